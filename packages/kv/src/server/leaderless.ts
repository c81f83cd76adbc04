/**
 * When a node gives up those who wait for changes: without a leader it hears of nothing new, and its silence would look
 * like peace.
 */
import { QuorateError } from "@quorate/raft";

/** How often the leader is looked for. */
export const leaderLookMs = 1_000;

/** Looks without a leader after which whoever waits here is better off at another node. */
const maxLeaderlessLooks = 3;

export class Leaderless {
  readonly #hasLeader: () => boolean;
  #looks = 0;

  constructor(hasLeader: () => boolean) {
    this.#hasLeader = hasLeader;
  }

  /** Looks. True where it has been so for too long. */
  isForLong(): boolean {
    this.#looks = this.#hasLeader() ? 0 : this.#looks + 1;
    return this.#looks >= maxLeaderlessLooks;
  }
}

export function leaderlessError(): QuorateError {
  const sentence = "It has known no leader for some seconds, so it hears of no change. Ask another node.";
  return new QuorateError("UNAVAILABLE", sentence, { retryable: true });
}
