/**
 * The history, newest revision first: one item for each change, with its revision, its key, and the pair before it.
 *
 * The pair after it is not written. It is the one before the next change of the key, or the present one; so restored
 * pairs are shared as they were, and the history takes about as many bytes as its limit says.
 */
import {
  type ByteReader,
  type ByteString,
  isKey,
  maxKeyBytes,
  type StoredPair,
} from "@quorate/client/protocol";
import { addRecord, type PairChange, type RevisionRecord, recordOf, recordsBackwards } from "../history.ts";
import type { ContentWriter } from "./contentWriter.ts";
import { readPair, writePair } from "./pairsSection.ts";
import type { StateSection } from "./sections.ts";
import { createSlabs, type Keep } from "./slabs.ts";

/** One item: the oldest revision that can be read. */
export const historyFloorSection: StateSection = {
  tag: 10,
  name: "the history's floor",
  *write(view, out) {
    if (view.history.floor === 0) return;
    out.varint(view.history.floor);
    yield;
  },
  restore(state) {
    return {
      item: (input) => {
        state.history.floor = input.varint("floor");
      },
      end: () => {},
    };
  },
};

export const historySection: StateSection = {
  tag: 11,
  name: "history",
  *write(view, out) {
    for (const { revision, changes } of recordsBackwards(view.history)) {
      for (const { key, before } of changes) {
        out.varint(revision);
        out.byteString(key);
        writeBefore(out, before);
        yield;
      }
    }
  },
  restore(state) {
    /** What each key that is met in older revisions is after them. */
    const after = new Map<ByteString, StoredPair | undefined>();
    const records: RevisionRecord[] = [];
    let revision = 0;
    let changes: PairChange[] = [];
    const keep = createSlabs();
    const close = (): void => {
      if (changes.length > 0) records.push(recordOf(revision, changes));
      changes = [];
    };
    return {
      item(input) {
        const found = input.varint("revision");
        const { key, before } = readBefore(input, keep);
        if (found > state.revision || found <= state.history.floor || (revision > 0 && found > revision))
          input.fail("its history is not of kept revisions in descending order");
        if (input.problem !== undefined) return;
        if (found !== revision) close();
        revision = found;
        changes.push({ key, before, after: after.has(key) ? after.get(key) : state.pairs.get(key) });
        after.set(key, before);
      },
      end() {
        close();
        for (const record of records.splice(0).reverse()) addRecord(state.history, record);
      },
    };
  },
};

/** 0: it was absent; 1: a pair; 2: one that was attached, and its session. */
function writeBefore(out: ContentWriter, before: StoredPair | undefined): void {
  out.byte(before === undefined ? 0 : before.session === undefined ? 1 : 2);
  if (before === undefined) return;
  writePair(out, before);
  if (before.session !== undefined) out.varint(before.session);
}

function readBefore(input: ByteReader, keep: Keep): Pick<PairChange, "key" | "before"> {
  const key = input.byteString("key", maxKeyBytes);
  const kind = input.byte("pair before");
  const pair = kind > 0 ? readPair(input, keep) : undefined;
  const before = pair !== undefined && kind === 2 ? { ...pair, session: input.varint("session") } : pair;
  if (kind > 2 || !isKey(key) || (before !== undefined && before.key !== key)) {
    input.fail("a change in its history makes no sense");
  }
  return { key, before };
}
