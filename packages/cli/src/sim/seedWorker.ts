/** A worker thread of `quorate sim`: runs the seeds that it is told to. An error that is no violation ends it. */
import { parentPort } from "node:worker_threads";
import { runSeed, type SeedTask } from "./seedRun.ts";

parentPort?.on("message", (task: SeedTask) => {
  runSeed(task).then(
    (outcome) => parentPort?.postMessage(outcome),
    (error: unknown) => {
      // Out of the promise, so that it reaches who started this thread.
      setImmediate(() => {
        throw error;
      });
    },
  );
});
