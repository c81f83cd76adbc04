/** The error of a conditional write whose condition did not hold: the one that callers branch on. */
import { QuorateError } from "@quorate/raft";

/** Code `CONFLICT`, outcome none: nothing was written. */
export class ConflictError extends QuorateError {
  /** The key's `modRevision` when the write was refused; 0 where the key did not exist. */
  readonly currentRevision: number;

  constructor(message: string, currentRevision: number) {
    super("CONFLICT", message);
    this.name = "ConflictError";
    this.currentRevision = currentRevision;
  }
}
