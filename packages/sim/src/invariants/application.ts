/**
 * State-machine safety: every member applies the same entries, each once, in order, with the same results.
 */
import type { Entry } from "@quorate/raft";
import { mixBytes, mixText, mixValue } from "../world/mix.ts";
import type { History, MemberHistory } from "./history.ts";

export interface AppliedEntry {
  readonly term: number;
  readonly dataHash: number;
  readonly resultHash: number;
}

/** What was applied at each index, by whoever was first. */
export class Application {
  private readonly applied: AppliedEntry[] = [];
  private readonly history: History;
  /** Told of each entry once, in order, by whoever applies it first. `state`: of its machine, after it. */
  onFirst: ((entry: Entry, result: unknown, state: unknown) => void) | undefined;

  constructor(history: History) {
    this.history = history;
  }

  applies(member: MemberHistory, entry: Entry, result: unknown, state?: unknown): void {
    const { history } = this;
    if (entry.index !== member.appliedIndex + 1) {
      history.fail(
        "state machine safety",
        `${member.member} applies ${entry.index} after ${member.appliedIndex}`,
      );
    }
    member.appliedIndex = entry.index;
    const committed = history.committed[entry.index - 1];
    if (committed === undefined || committed.term !== entry.term) {
      history.fail(
        "state machine safety",
        `${member.member} applies an entry ${entry.index} of term ${entry.term}, where ` +
          (committed === undefined ? "nothing was committed" : `one of term ${committed.term} was committed`),
      );
    }
    const dataHash = mixBytes(mixText(7, entry.kind), entry.data);
    const resultHash = mixValue(11, result);
    const first = this.applied[entry.index - 1];
    if (first === undefined) {
      this.applied[entry.index - 1] = { term: entry.term, dataHash, resultHash };
      this.onFirst?.(entry, result, state);
    } else if (first.dataHash !== dataHash || first.resultHash !== resultHash) {
      history.fail(
        "state machine safety",
        `${member.member} applied entry ${entry.index} with another ` +
          `${first.dataHash === dataHash ? "result" : "command"} than the member that was first`,
      );
    }
  }
}
