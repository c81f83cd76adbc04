/** Loads modules from their sources, which Node.js 20 cannot do by itself. */
import { join } from "node:path";
import { createServer } from "vite";

const root = join(import.meta.dirname, "..", "..");

export async function openSources() {
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
  /** `file`: from the root of the repository. */
  const load = (file) => server.ssrLoadModule(join(root, file));
  return { load, close: () => server.close() };
}
