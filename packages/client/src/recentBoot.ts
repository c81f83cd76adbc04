/**
 * `bootMs` as of the last millisecond at most, for times of sending and the like, where earlier is on the safe side:
 * a reading costs system calls.
 */
import type { Clock } from "@quorate/raft";

export class RecentBoot {
  readonly #clock: Clock;
  #bootMs = 0;
  #readAtMs: number = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readMs(): number {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#readAtMs >= 1) {
      this.#bootMs = this.#clock.bootMs();
      this.#readAtMs = nowMs;
    }
    return this.#bootMs;
  }
}
