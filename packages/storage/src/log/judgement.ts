/**
 * The rule of opening, pure: which record holds, and whether this node may speak at all.
 *
 *        batch k durable  ──▶  witness k durable  ──▶  promises of k leave
 *
 * So each promise that left is in the newest good slot. Numbers are consecutive and opening first witnesses
 * a batch that a crash left without, hence the two slots hold k and k − 1, and the database k or k + 1.
 * From that follows:
 *
 * - both slots good: the newest of them has every promise. A database that is behind it has lost batches;
 *   the hard state is the slot's;
 * - one slot bad, the other good at g: the bad one held g − 1 or g + 1. A database above g has every
 *   promise (a crash tears a slot only after its batch is durable). A database at g or below proves
 *   nothing: a vote may be gone;
 * - both bad, or no witness beside a database that holds something: nothing tells what was promised.
 *
 * Comparing sequences alone finds no hole in the middle: whether the log ends exactly where the record
 * says, and chains up to there, is `scanLog`'s to find.
 */
import { type NodeId, nodeIdOf } from "@quorate/raft";
import { equalBytes } from "./bytes.ts";
import type { Evidence } from "./evidence.ts";
import { encodeStateRecord, type StateRecord } from "./stateRecord.ts";

export type Judgement =
  /** Holds nothing: an unfinished creation, or nothing at all. */
  | { readonly kind: "create" }
  /** `reason` is a sentence. Nothing is changed. */
  | { readonly kind: "refuse"; readonly code: "DATA_LOST" | "WRONG_DIRECTORY"; readonly reason: string }
  | {
      readonly kind: "open";
      /** The highest record: hard state, membership, and where the log ends. */
      readonly record: StateRecord;
      /** The database is behind the witness: it lost this many batches. */
      readonly lostBatches: number;
      /** The record is in the database alone: a crash came before its witness. */
      readonly unwitnessed: boolean;
    };

const staysOut =
  "It must not speak again, since it could vote twice in one term: it stays out, and the others go on without it. " +
  "Keep the directory if you want to look into it (`quorate doctor`).";

/**
 * `mayCreate`: false where a directory is made whole before it is opened, so that nothing means something
 * lost.
 */
export function judge(evidence: Evidence, nodeId: NodeId, mayCreate: boolean): Judgement {
  const { slots, database, empty } = evidence;
  const records = [database, slots?.[0], slots?.[1]].filter((record) => record !== undefined);
  const stranger = records.find((record) => nodeIdOf(record.member) !== nodeId);
  if (stranger !== undefined) return anotherNode(nodeIdOf(stranger.member), nodeId);
  const quarantined = records.find((record) => record.quarantine !== undefined);
  if (quarantined !== undefined)
    return lost(`it was quarantined: ${quarantined.quarantine?.replace(/[.\s]+$/, "")}.`);
  if (new Set(records.map((record) => record.member)).size > 1) return lost(mixed);
  if (mayCreate && empty && (slots === undefined || unfinished(slots))) return { kind: "create" };
  if (slots === undefined) return lost("its witness file is gone, so nobody can tell what it promised.");
  const [zero, one] = slots;
  const witness = newest(zero, one);
  if (witness === undefined) return lost("both slots of its witness file are damaged.");
  const oneBad = zero === undefined || one === undefined;
  if (oneBad && (database === undefined || database.k <= witness.k))
    return lost(oneSlotLeft(witness, database));
  return compare(witness, database);
}

function compare(witness: StateRecord, database: StateRecord | undefined): Judgement {
  if (database === undefined) {
    return { kind: "open", record: witness, lostBatches: witness.k, unwitnessed: false };
  }
  if (contradict(witness, database)) return lost(mixed);
  if (database.k > witness.k) return { kind: "open", record: database, lostBatches: 0, unwitnessed: true };
  return { kind: "open", record: witness, lostBatches: witness.k - database.k, unwitnessed: false };
}

/** The two cannot both come from this directory's one history. */
function contradict(witness: StateRecord, database: StateRecord): boolean {
  if (database.k === witness.k) return !equalBytes(encodeStateRecord(database), encodeStateRecord(witness));
  const [older, newer] = database.k > witness.k ? [witness, database] : [database, witness];
  if (older.boot > newer.boot || older.term > newer.term) return true;
  return older.membership !== undefined && older.membership.genesis !== newer.membership?.genesis;
}

/**
 * Slots are written before the database is made: with nothing in it and no promise witnessed, none was
 * made.
 */
function unfinished(slots: readonly [StateRecord | undefined, StateRecord | undefined]): boolean {
  const [zero, one] = slots;
  if (zero !== undefined && one !== undefined) return false;
  return (zero?.k ?? 0) === 0 && (one?.k ?? 0) === 0;
}

function newest(zero: StateRecord | undefined, one: StateRecord | undefined): StateRecord | undefined {
  if (zero === undefined || one === undefined) return zero ?? one;
  return one.k > zero.k ? one : zero;
}

const mixed =
  "its database and its witness file are not of one history: files of another directory or time were put in.";

function oneSlotLeft(witness: StateRecord, database: StateRecord | undefined): string {
  const held = database === undefined ? "holds no record at all" : `ends at write ${database.k}`;
  return (
    `one slot of its witness file is damaged, the other is of write ${witness.k}, and the ` +
    `database ${held}: the last vote may be gone.`
  );
}

function lost(what: string): Judgement {
  return {
    kind: "refuse",
    code: "DATA_LOST",
    reason: `This node's data cannot be trusted: ${what} ${staysOut}`,
  };
}

function anotherNode(found: NodeId, wanted: NodeId): Judgement {
  const reason =
    `The data are those of node "${found}", and this is node "${wanted}". Start it with the directory of ` +
    `"${wanted}", or as "${found}". Nothing was changed.`;
  return { kind: "refuse", code: "WRONG_DIRECTORY", reason };
}
