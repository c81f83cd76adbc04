/** Seeds 201 to 250 of the 300 that run under every fault; see seedRuns.ts. */
import { describe } from "vitest";
import { runSeeds } from "./seedRuns.ts";

describe("five nodes under every fault", () => {
  runSeeds(201, 250);
});
