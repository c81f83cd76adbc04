/** The errors of reads of the past and of watches that callers branch on: each says where to go on. */
import { QuorateError } from "@quorate/raft";

/** Code `COMPACTED`, outcome none: the history that was asked for has been cut away. */
export class CompactedError extends QuorateError {
  /** The oldest revision that can be read; a watch can begin after it. */
  readonly floor: number;

  constructor(wanted: string, floor: number) {
    super(
      "COMPACTED",
      `The store's history before revision ${floor} has been cut away, and ${wanted}. ` +
        "Read what is there now, and go on from the revision of that.",
    );
    this.name = "CompactedError";
    this.floor = floor;
  }
}

/** Code `OVERFLOW`, outcome none: a watch was read so slowly that it would soon have missed something. */
export class OverflowError extends QuorateError {
  /** The first revision that the watch did not give: another one can begin there, for a while. */
  readonly resumeFrom: number;

  constructor(resumeFrom: number) {
    super(
      "OVERFLOW",
      `The watch was read so slowly that the history after it is about to be cut away. It gave everything before ` +
        `revision ${resumeFrom}: watch from there and read faster, or keep more history.`,
      { retryable: true },
    );
    this.name = "OverflowError";
    this.resumeFrom = resumeFrom;
  }
}
