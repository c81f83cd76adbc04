/** `pnpm mutants`: loads the table (table.ts) from its sources, which Node.js 20 cannot do by itself, and prints it. */
import { join } from "node:path";
import { createServer } from "vite";

const root = join(import.meta.dirname, "..", "..");
const server = await createServer({
  root,
  configFile: false,
  logLevel: "error",
  appType: "custom",
  server: { middlewareMode: true, watch: null, hmr: false, ws: false },
  optimizeDeps: { noDiscovery: true, include: [] },
  resolve: { conditions: ["development"] },
  ssr: { resolve: { conditions: ["development", "node", "import", "module", "default"] } },
});
try {
  const { printTable } = await server.ssrLoadModule(join(root, "test", "mutants", "table.ts"));
  process.exitCode = await printTable(process.argv.slice(2).filter((word) => word !== "--"));
} finally {
  await server.close();
}
