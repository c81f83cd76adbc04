/**
 * All reads that arrive before the node's turn share one read index, so a thousand of them cost one round of the
 * quorum. It is asked for at once: what was proposed with them goes to the followers in the same frame.
 *
 * The node says which reads may share: it gives the same promise until its turn has taken the question. A read that
 * comes later is of the next batch, for what was committed in between is not at the older index.
 *
 * Each is made in the very turn in which the read index is confirmed and applied: made later, it would still be true,
 * but the point that it was confirmed for would not be what it shows.
 */
import type { QuorateError, RaftNode, ReadPoint } from "@quorate/raft";
import { asQuorateError } from "./failureOf.ts";

interface Read {
  readonly run: (point: ReadPoint) => void;
  readonly fail: (error: QuorateError) => void;
}

export class ReadBatch {
  readonly #node: Pick<RaftNode<unknown>, "readIndex">;
  /** The newest, until it is confirmed. */
  #newest: { readonly point: Promise<ReadPoint>; readonly reads: Read[] } | undefined;

  constructor(node: Pick<RaftNode<unknown>, "readIndex">) {
    this.#node = node;
  }

  /** Exactly one of the two is called, once. Neither may throw. */
  add(run: Read["run"], fail: Read["fail"]): void {
    const point = this.#node.readIndex();
    if (this.#newest?.point === point) this.#newest.reads.push({ run, fail });
    else this.#begin(point, { run, fail });
  }

  #begin(point: Promise<ReadPoint>, first: Read): void {
    const batch = { point, reads: [first] };
    this.#newest = batch;
    const over = (): readonly Read[] => {
      if (this.#newest === batch) this.#newest = undefined;
      return batch.reads;
    };
    point.then(
      (confirmed) => {
        for (const read of over()) read.run(confirmed);
      },
      (error: unknown) => {
        const failed = asQuorateError(error);
        for (const read of over()) read.fail(failed);
      },
    );
  }
}
