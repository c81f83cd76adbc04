/** Waits for promises where time goes on only when it is told to. */

/** What `promise` gives; `run` lets virtual time pass until the question that it is given is answered with yes. */
export async function outcomeIn<T>(
  run: (forMs: number, isDone: () => boolean) => Promise<unknown>,
  promise: Promise<T>,
  withinMs: number,
): Promise<T> {
  let end: (() => T) | undefined;
  promise.then(
    (value) => {
      end = () => value;
    },
    (error: unknown) => {
      end = () => {
        throw error;
      };
    },
  );
  await run(withinMs, () => end !== undefined);
  if (end === undefined) throw new Error(`nothing came of it within ${withinMs} ms`);
  return end();
}
