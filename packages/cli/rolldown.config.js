/**
 * The `node` command as few files: reading and linking some two hundred small modules takes a node longer than all else
 * that it does before it serves. bin/quorate.js takes the bundle only where it is as new as what it was made of.
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "rolldown";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Native code, what starts workers of its own, what `ws` does without, and the commands that are not `node`. */
const external = [
  "level",
  "pino",
  "pino-pretty",
  "bufferutil",
  "utf-8-validate",
  /\/(cluster|commands|sim)\/\w+Command\.js$/,
];

export default defineConfig({
  input: here("dist/main.js"),
  platform: "node",
  external,
  logLevel: "warn",
  output: { dir: here("dist/bundle"), format: "esm", chunkFileNames: "[name].js" },
});
