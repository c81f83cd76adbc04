/** Short words for tests of the log store. */
import {
  asIndex,
  asTerm,
  type Birth,
  type Entry,
  type EntryKind,
  type Identity,
  type LogStore,
  type MemberId,
  memberId,
  type NodeId,
  type Persist,
  votersOnly,
} from "@quorate/raft";

export const nodeA: NodeId = "a" as NodeId;
export const nodeB: NodeId = "b" as NodeId;

export function member(name: string, digit = "0"): MemberId {
  return memberId(name as NodeId, digit.repeat(16));
}

export function entry(
  index: number,
  term: number,
  text = `${index}@${term}`,
  kind: EntryKind = "command",
): Entry {
  return { index: asIndex(index), term: asTerm(term), kind, data: new TextEncoder().encode(text) };
}

export function birthOf({ nodeId, incarnation }: Identity, clusterDigit = "c"): Birth {
  const own = { id: memberId(nodeId, incarnation), address: "ws://127.0.0.1:7101" };
  const other = { id: member("b"), address: "ws://127.0.0.1:7102" };
  return { clusterId: clusterDigit.repeat(32), configuration: votersOnly([own, other]) };
}

let sequence = 0;

export interface PersistFields {
  readonly term: number;
  readonly vote?: MemberId;
  readonly truncateFrom?: number;
  readonly entries?: readonly Entry[];
  readonly floor?: Persist["floor"];
}

export function persist({ term, vote, truncateFrom, entries = [], floor }: PersistFields): Persist {
  sequence += 1;
  return {
    sequence,
    term: asTerm(term),
    vote,
    floor,
    truncateFrom: truncateFrom === undefined ? undefined : asIndex(truncateFrom),
    entries,
  };
}

/** Everything from entry 1 on, as `index@term text`. */
export async function logOf(store: LogStore, lastIndex: number): Promise<readonly string[]> {
  if (lastIndex === 0) return [];
  const entries = await store.read(asIndex(1), asIndex(lastIndex), Number.MAX_SAFE_INTEGER);
  return entries.map(textOf);
}

export function textOf({ index, term, kind, data }: Entry): string {
  return `${index}@${term} ${kind} ${new TextDecoder().decode(data)}`;
}
