/**
 * Whether the bundle of the commands `node` and `cluster` was made of the sources as they are: in the project's own
 * checkout they may have been compiled since. An installed package has no bundle.
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

export function bundleIsCurrent() {
  const bundledMs = changedMs("../dist/bundle/main.js");
  if (bundledMs === undefined) return false;
  return parts.every((part) => (changedMs(`../../${part}/.tsbuildinfo`) ?? 0) <= bundledMs);
}
