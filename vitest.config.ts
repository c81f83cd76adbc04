/** How the tests run: on the sources, in processes of their own. */
import { defineConfig } from "vitest/config";

/** Tests read the sources (condition `development`); process tests run the built command, which `pnpm test` builds first. */
export default defineConfig({
  resolve: { conditions: ["development"] },
  ssr: { resolve: { conditions: ["development", "node", "import", "module", "default"] } },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "test/system/**"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
  },
});
