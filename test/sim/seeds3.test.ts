/** Seeds 101 to 150 of the 300 that run under every fault; see seedRuns.ts. */
import { describe } from "vitest";
import { runSeeds } from "./seedRuns.ts";

describe("five nodes under every fault", () => {
  runSeeds(101, 150);
});
