/**
 * Keeps work in the background to half of the node's time: after each few milliseconds of it the node has as long for
 * everything else. Work is what the clock says between `begin` and `end`, so that a machine that is slow, or
 * has other things to do, is given more time too.
 */
import type { Clock } from "../ports/index.ts";

/** Rested for so many times as long as was worked: a snapshot that takes longer keeps more of the state before. */
const restPerWork = 1;
/** Work that is done before it is rested; until then there is a turn of the node between any two pieces. */
const workMsAtOnce = 2;
/** A node that stood still in the middle of a piece has not worked for as long. */
const longestRestMs = 10;

export class WorkPace {
  readonly #clock: Clock;
  #beganMs: number;
  #workedMs = 0;

  /** The first piece begins. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beganMs = clock.nowMs();
  }

  begin(): void {
    this.#beganMs = this.#clock.nowMs();
  }

  end(): void {
    this.#workedMs += this.#clock.nowMs() - this.#beganMs;
  }

  /** Resolves when the next piece may begin, in a later turn. */
  async rest(): Promise<void> {
    if (this.#workedMs < workMsAtOnce) {
      await yieldTurn(this.#clock);
      return;
    }
    const restMs = Math.min(longestRestMs, restPerWork * this.#workedMs);
    this.#workedMs = 0;
    await new Promise<void>((resolve) => {
      this.#clock.after(restMs, resolve);
    });
  }
}

/** Lets what has arrived be handled first. */
export function yieldTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.defer(resolve));
}
