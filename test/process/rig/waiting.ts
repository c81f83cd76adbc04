/**
 * Waiting for what must become true, with a deadline. Tests never sleep for a guess: a slow machine waits longer, a
 * quick one not at all.
 */

export interface Deadline {
  /** Default 20 s: far more than anything here takes on an idle machine. */
  readonly withinMs?: number;
}

/** What is said beside a wait in vain: such as the end of the log of each node that runs. */
export const witnesses: Set<() => string> = new Set();

/** A pause between two looks at the same condition, or a span of time that is itself what is measured. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Looks until `probe` gives something else than undefined or false, and gives that. A probe that throws is asked
 * again; after the deadline the message says what was waited for, and what the last look saw.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  { withinMs = 20_000 }: Deadline = {},
): Promise<Exclude<T, undefined | false>> {
  const endMs = performance.now() + withinMs;
  let last: unknown;
  do {
    try {
      const seen = await probe();
      if (seen !== undefined && seen !== false) return seen as Exclude<T, undefined | false>;
      last = seen;
    } catch (error) {
      last = error;
    }
    await pause(15);
  } while (performance.now() < endMs);
  const said = [...witnesses].map((tell) => `\n${tell()}`).join("");
  throw new Error(`Waited ${withinMs} ms in vain until ${what}; the last look saw: ${String(last)}${said}`, {
    cause: last,
  });
}

/** `promise`, or an error that says what was waited for. */
export async function within<T>(what: string, promise: Promise<T>, withinMs = 20_000): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${withinMs} ms in vain for ${what}`)), withinMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
