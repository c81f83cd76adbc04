/**
 * State-machine safety: every member applies the same entries, each once, in order, with the same results.
 */
import type { Entry } from "@quorate/raft";
import { mixBytes, mixNumber, mixText } from "../world/chance.ts";
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
  /** Told of each entry once, in order, by whoever applies it first. */
  onFirst: ((entry: Entry, result: unknown) => void) | undefined;

  constructor(history: History) {
    this.history = history;
  }

  applies(member: MemberHistory, entry: Entry, result: unknown): void {
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
    const resultHash = hashValue(11, result);
    const first = this.applied[entry.index - 1];
    if (first === undefined) {
      this.applied[entry.index - 1] = { term: entry.term, dataHash, resultHash };
      this.onFirst?.(entry, result);
    } else if (first.dataHash !== dataHash || first.resultHash !== resultHash) {
      history.fail(
        "state machine safety",
        `${member.member} applied entry ${entry.index} with another ` +
          `${first.dataHash === dataHash ? "result" : "command"} than the member that was first`,
      );
    }
  }
}

/** A hash of plain data, by structure. */
export function hashValue(hash: number, value: unknown): number {
  switch (typeof value) {
    case "string":
      return mixText(mixNumber(hash, 1), value);
    case "number":
      return mixNumber(mixNumber(hash, 2), value * 8);
    case "boolean":
      return mixNumber(hash, value ? 3 : 4);
    case "object":
      break;
    default:
      return mixNumber(hash, 5);
  }
  if (value === null) return mixNumber(hash, 6);
  if (value instanceof Uint8Array) return mixBytes(mixNumber(hash, 7), value);
  let mixed = mixNumber(hash, 8);
  if (Array.isArray(value)) {
    for (const item of value) mixed = hashValue(mixed, item);
    return mixed;
  }
  for (const [key, item] of Object.entries(value)) mixed = hashValue(mixText(mixed, key), item);
  return mixed;
}
