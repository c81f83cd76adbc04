/**
 * How the tests run: on the sources (condition `development`), as many files at once as there are cores. Tests of real
 * processes run the built command, which `pnpm test` builds first; they come last and one file at a time, since they
 * measure time.
 */
import { defineConfig } from "vitest/config";

const sources = {
  resolve: { conditions: ["development"] },
  ssr: { resolve: { conditions: ["development", "node", "import", "module", "default"] } },
};
const timeouts = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    // One worker a core: the runner's own choice leaves one of two idle.
    maxWorkers: "100%",
    projects: [
      {
        ...sources,
        test: {
          name: "code",
          include: ["test/**/*.test.ts"],
          exclude: ["**/node_modules/**", "test/nightly/**", "test/process/**", "test/system/**"],
          pool: "forks",
          sequence: { groupOrder: 0 },
          ...timeouts,
        },
      },
      {
        ...sources,
        test: {
          name: "processes",
          include: ["test/process/**/*.test.ts"],
          pool: "forks",
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
