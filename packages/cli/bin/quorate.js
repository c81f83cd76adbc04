#!/usr/bin/env node
/**
 * A node starts from the bundle, which takes a third of the time, if that was made of the sources as they are now: in
 * the project's own checkout they may have been compiled since. All else runs as it was compiled.
 */
import { statSync } from "node:fs";

const parts = [
  "cli/dist",
  "client/dist",
  "client/dist/protocol",
  "kv/dist",
  "kv/dist/machine",
  "raft/dist",
  "raft/dist/core",
  "storage/dist",
  "transport/dist",
];

function changedMs(path) {
  return statSync(new URL(path, import.meta.url), { throwIfNoEntry: false })?.mtimeMs;
}

function bundleIsCurrent() {
  const bundledMs = changedMs("../dist/bundle/main.js");
  if (bundledMs === undefined) return false;
  return parts.every((part) => (changedMs(`../../${part}/.tsbuildinfo`) ?? 0) <= bundledMs);
}

await import(process.argv[2] === "node" && bundleIsCurrent() ? "../dist/bundle/main.js" : "../dist/main.js");
