#!/usr/bin/env node
/** A cluster and its nodes start from the bundle where it is current, in half the time. All else runs as compiled. */
import { bundleIsCurrent } from "./bundle.js";

const isBundled = process.argv[2] === "node" || process.argv[2] === "cluster";

await import(isBundled && bundleIsCurrent() ? "../dist/bundle/main.js" : "../dist/main.js");
