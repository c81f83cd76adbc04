/**
 * Makes the bundle of the commands `node` and `cluster`, if it is not current: reading and linking some two hundred
 * small modules takes a node longer than all else that it does before it serves.
 */
import { fileURLToPath } from "node:url";
import { bundleIsCurrent } from "./bin/bundle.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Native code, what starts workers of its own, what `ws` does without, and the commands that are run as compiled. */
const external = [
  "level",
  "pino",
  "pino-pretty",
  "bufferutil",
  "utf-8-validate",
  /\/(commands|demo|sim)\/\w+Command\.js$/,
];

if (!bundleIsCurrent()) {
  const { build } = await import("rolldown");
  await build({
    input: here("dist/main.js"),
    platform: "node",
    external,
    logLevel: "warn",
    output: { dir: here("dist/bundle"), format: "esm", chunkFileNames: "[name].js" },
  });
}
