/**
 * All reads that arrive in one turn share one read index, so a thousand of them cost one round of the quorum.
 *
 * Each is made in the very turn in which the read index is confirmed and applied: made later, it would still be true,
 * but the point that it was confirmed for would not be what it shows.
 */
import type { Clock, QuorateError, RaftNode, ReadPoint } from "@quorate/raft";
import { asQuorateError } from "./failureOf.ts";

interface Read {
  readonly run: (point: ReadPoint) => void;
  readonly fail: (error: QuorateError) => void;
}

export class ReadBatch {
  readonly #node: Pick<RaftNode<unknown>, "readIndex">;
  readonly #clock: Clock;
  #waiting: Read[] = [];

  constructor(node: Pick<RaftNode<unknown>, "readIndex">, clock: Clock) {
    this.#node = node;
    this.#clock = clock;
  }

  /** Exactly one of the two is called, once. Neither may throw. */
  add(run: Read["run"], fail: Read["fail"]): void {
    this.#waiting.push({ run, fail });
    if (this.#waiting.length === 1) this.#clock.defer(() => this.#confirm());
  }

  #confirm(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#node.readIndex().then(
      (point) => {
        for (const read of batch) read.run(point);
      },
      (error: unknown) => {
        const failed = asQuorateError(error);
        for (const read of batch) read.fail(failed);
      },
    );
  }
}
