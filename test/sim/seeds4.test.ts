/** Seeds 151 to 200 of the 300 that run under every fault; see seedRuns.ts. */
import { describe } from "vitest";
import { runSeeds } from "./seedRuns.ts";

describe("five nodes under every fault", () => {
  runSeeds(151, 200);
});
