/** Seeds of seven nodes: majorities of four, and more nodes to be down, behind or cut off at once; see seedRuns.ts. */
import { describe } from "vitest";
import { runSeeds } from "./seedRuns.ts";

describe("seven nodes under every fault", () => {
  runSeeds(1, 16, 7);
});
