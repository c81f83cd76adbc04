/**
 * What an opening will do about what it found: which entries stay, which floor is set, and in which
 * standing the node comes up. It reads and decides; it changes nothing, so that `quorate doctor` can say
 * the same words.
 */
import {
  asIndex,
  asTerm,
  type BatchStore,
  type Birth,
  type Floor,
  type Index,
  type MemberId,
  reachesFloor,
  type Seen,
  type Term,
} from "@quorate/raft";
import { decodeBirth } from "./birthRecord.ts";
import type { Evidence } from "./evidence.ts";
import type { Judgement } from "./judgement.ts";
import { keptEnd, type Scan, scanLog } from "./scan.ts";
import { decodeSeen } from "./seenRecord.ts";
import type { StateRecord } from "./stateRecord.ts";

export type OpenJudgement = Extract<Judgement, { kind: "open" }>;

export interface Finding {
  /** `loss`: something acknowledged is gone. `note`: a crash left it so, and nothing is gone. */
  readonly kind: "loss" | "note";
  /** A clause: no capital, no full stop. */
  readonly text: string;
}

export interface Recovery {
  /** As it comes up: `mute` is born with a floor that the kept log does not reach. */
  readonly outcome: "unborn" | "lost" | "mute" | "voter";
  readonly record: StateRecord;
  readonly birth: Birth | undefined;
  readonly scan: Scan;
  /** Entries after this one are removed. */
  readonly keepTo: Index;
  readonly floor: Floor | undefined;
  /** Anything lies in the store that does not belong to the kept log. */
  readonly cleanUp: boolean;
  readonly seen: Map<MemberId, Seen>;
  readonly findings: readonly Finding[];
}

export async function planRecovery(
  batches: BatchStore,
  evidence: Evidence,
  judgement: OpenJudgement,
): Promise<Recovery> {
  const { record } = judgement;
  const { membership, boundary, last } = record;
  const scan = await scanLog(batches, boundary, last);
  const born = membership !== undefined;
  const birth = born && evidence.birth ? decodeBirth(evidence.birth, membership.genesis) : undefined;
  const faulty = scan.fault !== undefined;
  const lost = born && birth === undefined;
  const lastKnown: Floor = { lastIndex: last.index, lastTerm: last.term };
  const floor = faulty || lost ? higher(record.floor, lastKnown) : record.floor;
  const keepTo = faulty ? keptEnd(scan, lastKnown.lastIndex, lastKnown.lastTerm, boundary) : last.index;
  const seen = decodeSeen(evidence.seen, record.seen);
  const mute = floor !== undefined && !reachesFloor(floor, keepTo, termAt(scan, keepTo, boundary.term));
  return {
    outcome: !born ? "unborn" : lost ? "lost" : mute ? "mute" : "voter",
    record,
    birth,
    scan,
    keepTo,
    floor,
    cleanUp: faulty || scan.surplus || (!born && evidence.birth !== undefined),
    seen: seen ?? new Map<MemberId, Seen>(),
    findings: [
      ...batchFindings(evidence, judgement),
      ...logFindings(scan, keepTo, last.index),
      ...(lost ? [loss("the record of its birth is gone")] : []),
      ...(seen === undefined ? [loss("what it had seen of its peers is gone, and is learnt anew")] : []),
    ],
  };
}

/** Each part the larger: a log that reaches the result reaches both. */
function higher(one: Floor | undefined, other: Floor): Floor {
  if (one === undefined) return other;
  return {
    lastIndex: asIndex(Math.max(one.lastIndex, other.lastIndex)),
    lastTerm: asTerm(Math.max(one.lastTerm, other.lastTerm)),
  };
}

/** The term of a scanned entry. */
export function termAt(scan: Scan, index: Index, boundaryTerm: Term): Term {
  return scan.termRuns.findLast((run) => run.firstIndex <= index)?.term ?? boundaryTerm;
}

function batchFindings(evidence: Evidence, { record, lostBatches, unwitnessed }: OpenJudgement): Finding[] {
  const findings: Finding[] = [];
  const torn = evidence.slots?.indexOf(undefined) ?? -1;
  if (torn >= 0) {
    findings.push(note(`slot ${torn} of the witness was torn; write ${record.k} is whole in the database`));
  } else if (unwitnessed) {
    findings.push(note(`write ${record.k} was not yet witnessed when the node stopped; it is kept`));
  }
  if (lostBatches > 0 && evidence.database === undefined) {
    findings.push(loss(`the database holds no state record, though write ${record.k} was witnessed`));
  } else if (lostBatches > 0) {
    findings.push(
      loss(`the database lost its last writes (${lostBatches}); write ${record.k} was witnessed`),
    );
  }
  return findings;
}

function logFindings(scan: Scan, keepTo: Index, lastIndex: Index): Finding[] {
  if (scan.fault !== undefined) {
    return [loss(`${scan.fault}; of entries 1 to ${lastIndex}, those after ${keepTo} cannot be trusted`)];
  }
  if (scan.surplus) return [loss("entries that had been replaced have reappeared beyond the log's end")];
  return [];
}

function loss(text: string): Finding {
  return { kind: "loss", text };
}

function note(text: string): Finding {
  return { kind: "note", text };
}

/** What the node will do, as a sentence. */
export function outcomeSentence(recovery: Recovery): string {
  const { outcome, floor, record } = recovery;
  switch (outcome) {
    case "voter":
      return "It starts as a voter with everything that it acknowledged.";
    case "unborn":
      return "It is not yet a member of any cluster, and starts as such.";
    case "lost":
      return (
        `It was a member of cluster ${record.membership?.clusterId}; it stays mute (no votes) until its peers ` +
        "have given it back its birth and its log, which they do by themselves. Nothing is to be done."
      );
    case "mute":
      return (
        `It stays mute (no votes) until its peers have given it back its log up to entry ` +
        `${floor?.lastIndex}, which they do by themselves. Nothing is to be done.`
      );
  }
}
