#!/usr/bin/env node
/** A cluster and its nodes start from the bundle where it is current, in half the time. All else runs as compiled. */
import { setFlagsFromString } from "node:v8";
import { bundleIsCurrent } from "./bundle.js";

/**
 * A node that follows for weeks leads from one moment to the next, and what a leader does is new to the engine then: it
 * would compile each function at its first call, while all writes wait. So a node's code is compiled when it is read,
 * and not thrown away for lack of use.
 */
if (process.argv[2] === "node") {
  setFlagsFromString("--no-lazy");
  setFlagsFromString("--no-flush-bytecode");
}

const isBundled = process.argv[2] === "node" || process.argv[2] === "cluster";

await import(isBundled && bundleIsCurrent() ? "../dist/bundle/main.js" : "../dist/main.js");
