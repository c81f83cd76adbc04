/**
 * The signals that this process is sent from its first wait for a lease to the last release: none of them ends it in
 * between, for the lease, or its place in the queue, would be nobody's until its time is over.
 */

/** Those that a command under a lease is sent, too. */
export const passedOn = [
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
  "SIGQUIT",
  // Node.js would open its debugger's port in our name.
  "SIGUSR1",
  "SIGUSR2",
  "SIGWINCH",
] as const;

type PassedOn = (typeof passedOn)[number];

export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  /** To many programs SIGHUP means to read their settings again: it is the end of a wait, and not of what runs. */
  isCommandRunning = false;

  constructor() {
    for (const signal of passedOn) process.on(signal, this.#hear);
  }

  /** Aborts when this process is asked to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    for (const signal of passedOn) process.off(signal, this.#hear);
  }

  readonly #hear = (signal: PassedOn): void => {
    const isEnd =
      signal === "SIGINT" ||
      signal === "SIGTERM" ||
      signal === "SIGQUIT" ||
      (signal === "SIGHUP" && !this.isCommandRunning);
    if (isEnd) this.#controller.abort(signal);
  };
}
