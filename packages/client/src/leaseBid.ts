/** An acquire on its way: what the cluster says of its place until it is granted, gone, or its session has ended. */
import type { Cancel } from "@quorate/raft";
import type { SessionMember } from "./clientSession.ts";
import type { Patience } from "./patience.ts";
import type { SessionLease } from "./protocol/index.ts";

export type BidState =
  | { readonly kind: "waiting" }
  | { readonly kind: "granted"; readonly term: number }
  /** It was passed over, or broken, before it was claimed. */
  | { readonly kind: "gone" }
  | { readonly kind: "ended" };

export class LeaseBid implements SessionMember {
  #state: BidState = { kind: "waiting" };
  /** It was told of once: from then on it is gone where it is not told of any more. */
  #isKnown = false;
  #wake: () => void = () => {};

  changed(lease: SessionLease | undefined): void {
    if (lease === undefined) {
      if (this.#isKnown) this.#become({ kind: "gone" });
      return;
    }
    this.#isKnown = true;
    if (lease.term > 0) this.#become({ kind: "granted", term: lease.term });
  }

  /** What the cluster has told is newer than its answer to the acquire. */
  refreshed(): void {
    if (!this.#isKnown) this.#become({ kind: "gone" });
  }

  renewed(): void {}

  ended(): void {
    this.#become({ kind: "ended" });
  }

  /** What has become of it; still waiting where the patience ended first. */
  outcome(patience: Patience): Promise<BidState> {
    return new Promise((resolve) => {
      let cancelEnd: Cancel = () => {};
      const look = (): void => {
        if (this.#state.kind === "waiting" && patience.ended === undefined) return;
        this.#wake = () => {};
        cancelEnd();
        resolve(this.#state);
      };
      this.#wake = look;
      cancelEnd = patience.onEnd(look);
      look();
    });
  }

  #become(state: BidState): void {
    if (this.#state.kind !== "waiting") return;
    this.#state = state;
    this.#wake();
  }
}
