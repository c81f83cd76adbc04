/** A state that only a later release understands, as the error that whoever has it is told. */
import { QuorateError } from "@quorate/raft";
import { NewerVersionError } from "../machine/index.ts";

/** Runs what reads a log or a snapshot. Throws `NEWER_VERSION` where this release does not know its version. */
export function readingState<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof NewerVersionError)) throw error;
    throw new QuorateError("NEWER_VERSION", `${error.message}.`, { cause: error });
  }
}
