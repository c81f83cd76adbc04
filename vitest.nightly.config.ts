/** What takes too long for every change: `pnpm nightly`. Alone on the machine, one file at a time. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["development"] },
  ssr: { resolve: { conditions: ["development", "node", "import", "module", "default"] } },
  test: {
    include: ["test/nightly/**/*.test.ts"],
    pool: "forks",
    fileParallelism: false,
    testTimeout: 3_600_000,
    hookTimeout: 60_000,
  },
});
