/**
 * Runs one seed of each layer on the built simulator and prints their trace hashes: `node traceHash.js SEED [worker]`,
 * the second word for a run in a worker thread.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { simulate } from "@quorate/sim";

async function hashesOf(seed) {
  const hashes = [];
  for (const layer of ["raft", "store"]) {
    const { traceHash, violations } = await simulate({ seed, nodes: 3, layer, durationMs: 2_000 });
    hashes.push(violations.length === 0 ? traceHash : `violated: ${violations[0].sentence}`);
  }
  return hashes.join(" ");
}

if (!isMainThread) parentPort.postMessage(await hashesOf(workerData));
else {
  const [seed, where] = [Number(process.argv[2]), process.argv[3]];
  const hashes =
    where === "worker"
      ? await new Promise((resolve, reject) => {
          new Worker(new URL(import.meta.url), { workerData: seed })
            .on("message", resolve)
            .on("error", reject);
        })
      : await hashesOf(seed);
  process.stdout.write(`${hashes}\n`);
}
