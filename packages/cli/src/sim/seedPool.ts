/**
 * Many seeds on all cores: a worker thread a core, each with one seed at a time, and the outcomes told in the order of
 * the seeds, whatever order they came in. After a violation no later seed is begun; those before it are waited for.
 */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { SeedOutcome, SeedTask } from "./seedRun.ts";

/** Ends with the first seed, in their order, that has a failure. */
export async function runSeeds(
  tasks: readonly SeedTask[],
  tell: (outcome: SeedOutcome) => void,
  startWorker: () => Worker = () => new Worker(new URL("./seedWorker.js", import.meta.url)),
): Promise<void> {
  const workers = Array.from({ length: Math.min(availableParallelism(), tasks.length) }, startWorker);
  const outcomes: SeedOutcome[] = [];
  const queue = tasks.entries();
  let told = 0;
  let failedAt = tasks.length;
  const done = (at: number, outcome: SeedOutcome): void => {
    outcomes[at] = outcome;
    if (outcome.failure !== undefined) failedAt = Math.min(failedAt, at);
    for (let next = outcomes[told]; next !== undefined && told <= failedAt; next = outcomes[told]) {
      tell(next);
      told += 1;
      delete outcomes[told - 1];
    }
  };
  const work = async (worker: Worker): Promise<void> => {
    for (const [at, task] of queue) {
      if (at > failedAt) return;
      done(at, await answerOf(worker, task));
    }
  };
  try {
    await Promise.all(workers.map(work));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

function answerOf(worker: Worker, task: SeedTask): Promise<SeedOutcome> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      worker.off("message", succeed);
      worker.off("error", fail);
      worker.off("exit", exit);
    };
    const succeed = (outcome: SeedOutcome): void => {
      settle();
      resolve(outcome);
    };
    const fail = (error: Error): void => {
      settle();
      reject(new Error(`Seed ${task.seed} could not be run: ${error.message}`, { cause: error }));
    };
    const exit = (code: number): void => fail(new Error(`its thread ended with code ${code}`));
    worker.on("message", succeed);
    worker.on("error", fail);
    worker.on("exit", exit);
    worker.postMessage(task);
  });
}
