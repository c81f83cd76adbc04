/** A quarter of the mutants against their named cases; see namedSuite.ts. */
import { failTheirNamedCases } from "./namedSuite.ts";

failTheirNamedCases(4, 4);
