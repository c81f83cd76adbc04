/** Searches many mutants on all cores: a worker thread a core, each with one mutant at a time. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Mutant } from "./mutant.ts";
import type { Searched } from "./search.ts";

/** `tell` is called for each mutant as its search ends. */
export async function searchAll(
  mutants: readonly Mutant[],
  seeds: number,
  tell: (mutant: Mutant, searched: Searched) => void,
): Promise<void> {
  const queue = mutants.values();
  const workers = Array.from(
    { length: Math.min(availableParallelism(), mutants.length) },
    () => new Worker(new URL("./searchWorker.js", import.meta.url)),
  );
  const work = async (worker: Worker): Promise<void> => {
    for (const mutant of queue) tell(mutant, await answerOf(worker, mutant.name, seeds));
  };
  try {
    await Promise.all(workers.map(work));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

function answerOf(worker: Worker, name: string, seeds: number): Promise<Searched> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      worker.off("message", succeed);
      worker.off("error", fail);
      worker.off("exit", exit);
    };
    const succeed = ({ searched }: { searched: Searched }): void => {
      settle();
      resolve(searched);
    };
    const fail = (error: Error): void => {
      settle();
      reject(new Error(`The search for "${name}" could not be run: ${error.message}`, { cause: error }));
    };
    const exit = (code: number): void => fail(new Error(`its thread ended with code ${code}`));
    worker.on("message", succeed);
    worker.on("error", fail);
    worker.on("exit", exit);
    worker.postMessage({ name, seeds });
  });
}
