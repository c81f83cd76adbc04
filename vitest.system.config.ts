/**
 * Tests that need root or Debian packages (strace, nftables, a mount of their own): `pnpm test:system`. Where something
 * is missing they skip, and say what.
 */
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["development"] },
  // Without "import": it would reach `require` as well, and pg would be given the modules of its own that are not its.
  ssr: { resolve: { conditions: ["development", "node", "module", "default"] } },
  test: {
    include: ["test/system/**/*.test.ts"],
    pool: "forks",
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
