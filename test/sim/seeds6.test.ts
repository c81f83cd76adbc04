/** Seeds 251 to 300 of the 300 that run under every fault; see seedRuns.ts. */
import { describe } from "vitest";
import { runSeeds } from "./seedRuns.ts";

describe("five nodes under every fault", () => {
  runSeeds(251, 300);
});
