/** What `quorate doctor` says of a data directory: plain data, and sentences made of it. */
import type { Floor, Identity, MemberId } from "@quorate/raft";
import type { Evidence } from "../log/evidence.ts";
import type { Finding } from "../log/finding.ts";
import type { Judgement } from "../log/judgement.ts";
import { outcomeSentence, type Recovery } from "../log/recovery.ts";
import type { StateRecord } from "../log/stateRecord.ts";

/** What a start would do. */
export type Prognosis = "voter" | "mute" | "lost" | "unborn" | "new" | "refused";

export interface Report {
  readonly directory: string;
  /** The process that has it open, if one has. */
  readonly pid: number | undefined;
  readonly identity: Identity | undefined;
  readonly clusterId: string | undefined;
  /** How often it was opened. */
  readonly boot: number | undefined;
  /**
   * The newest write in the database and in either slot of the witness; undefined where it is missing or
   * damaged.
   */
  readonly sequence: {
    readonly database: number | undefined;
    readonly slots: readonly [number | undefined, number | undefined] | undefined;
  };
  readonly term: number | undefined;
  readonly vote: MemberId | undefined;
  readonly floor: Floor | undefined;
  readonly log: LogReport | undefined;
  /** Those that a start would keep, newest first. */
  readonly snapshots: readonly SnapshotReport[];
  readonly prognosis: Prognosis;
  /** What a start would do, as a sentence. */
  readonly verdict: string;
  /** Everything worth knowing that is not as after a clean stop, as sentences. */
  readonly findings: readonly string[];
}

export interface SnapshotReport {
  /** The last entry that it stands for. */
  readonly index: number;
  readonly term: number;
  /** Of its content. */
  readonly bytes: number;
  /** Its content has the checksum that its header says. */
  readonly intact: boolean;
}

export interface LogReport {
  readonly firstIndex: number;
  /** Where it should end. */
  readonly lastIndex: number;
  /** Every entry up to here has the right checksum and continues the one before. */
  readonly verifiedTo: number;
  /** The term of the entry there: of several nodes' logs the one that ends in the highest term is the newest. */
  readonly verifiedTerm: number;
  /** The first thing that is wrong with it, as a clause. */
  readonly fault: string | undefined;
}

export interface Inspection {
  readonly directory: string;
  readonly pid: number | undefined;
  readonly identity: Identity | undefined;
  readonly evidence: Evidence | undefined;
  readonly judgement: Judgement;
  readonly recovery: Recovery | undefined;
  readonly snapshots: readonly SnapshotReport[];
}

export function reportOf(inspection: Inspection): Report {
  const { directory, pid, identity, evidence, judgement, recovery, snapshots } = inspection;
  const record = judgement.kind === "open" ? judgement.record : evidence && highest(evidence);
  const slots = evidence?.slots;
  return {
    directory,
    pid,
    identity,
    clusterId: record?.membership?.clusterId,
    boot: record?.boot,
    sequence: { database: evidence?.database?.k, slots: slots && [slots[0]?.k, slots[1]?.k] },
    term: record?.term,
    vote: record?.vote,
    floor: recovery?.floor ?? record?.floor,
    log: recovery && logReport(recovery),
    snapshots,
    prognosis: prognosisOf(judgement, recovery),
    verdict: verdictOf(judgement, recovery),
    findings: (recovery?.findings ?? []).map(sentence),
  };
}

/** A report for a directory that could not be judged, and why. */
export function refusalReport(
  directory: string,
  pid: number | undefined,
  identity: Identity | undefined,
  reason: string,
): Report {
  const judgement: Judgement = { kind: "refuse", code: "DATA_LOST", reason };
  return reportOf({
    directory,
    pid,
    identity,
    evidence: undefined,
    judgement,
    recovery: undefined,
    snapshots: [],
  });
}

function highest({ database, slots }: Evidence): StateRecord | undefined {
  const records = [database, slots?.[0], slots?.[1]].filter((record) => record !== undefined);
  return records.sort((one, other) => other.k - one.k)[0];
}

function logReport({ boundary, scan, record }: Recovery): LogReport {
  return {
    firstIndex: boundary.index + 1,
    lastIndex: record.last.index,
    verifiedTo: scan.tail.last.index,
    verifiedTerm: scan.tail.last.term,
    fault: scan.fault,
  };
}

function prognosisOf(judgement: Judgement, recovery: Recovery | undefined): Prognosis {
  if (judgement.kind === "refuse") return "refused";
  return judgement.kind === "create" || recovery === undefined ? "new" : recovery.outcome;
}

function verdictOf(judgement: Judgement, recovery: Recovery | undefined): string {
  if (judgement.kind === "refuse") return `A start would refuse. ${judgement.reason}`;
  if (recovery === undefined)
    return "It holds nothing; a start makes it anew, as a node that no cluster knows yet.";
  return outcomeSentence(recovery);
}

function sentence({ text }: Finding): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
