/** For how long a thread was ready to run and had no processor, from Linux's `/proc`. */
import { openSync, readSync } from "node:fs";

/** Of the main thread of a process, or of the calling thread. */
export class ProcessorWait {
  readonly #schedule: number | undefined;
  readonly #buffer: Buffer = Buffer.alloc(128);

  constructor(of: number | "thread-self") {
    this.#schedule = openSchedule(of);
  }

  /** Since the thread began, in milliseconds. Where the system does not tell: always 0. */
  totalMs(): number {
    if (this.#schedule === undefined) return 0;
    const length = readSync(this.#schedule, this.#buffer, 0, this.#buffer.length, 0);
    const [, waitedNs] = this.#buffer.toString("latin1", 0, length).split(" ");
    return Number(waitedNs) / 1e6;
  }
}

/** Time on a processor, time of waiting for one, both in nanoseconds, and how often it got one. */
function openSchedule(of: number | "thread-self"): number | undefined {
  try {
    return openSync(`/proc/${of}/schedstat`, "r");
  } catch {
    return undefined;
  }
}
