/** What a log is replicated for. */
import type { Entry } from "../core/types.ts";

export interface StateMachine<Result> {
  /**
   * Called once for every committed entry of any kind, in order, and again from the start after a restart.
   * Deterministic: it reads the entry and its own state, nothing else. An exception stops the node.
   */
  apply(entry: Entry): Result;
}
