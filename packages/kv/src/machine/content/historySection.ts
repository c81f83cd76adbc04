/**
 * The history, newest revision first: one item for each change, with its revision, its key, and the pair before it.
 *
 * The pair after it is not written: it is the one before the next change of the key, or the present one. So the
 * history takes about as many bytes as its limit says.
 */
import { type ByteReader, isKey, maxKeyBytes, type StoredPair } from "@quorate/client/protocol";
import { beforeAt, keyAt, revisionAt } from "../changeBlock.ts";
import { changesBackwards } from "../history.ts";
import { HistoryBuilder, type ReplacedPair } from "../historyBuilder.ts";
import type { ContentWriter } from "./contentWriter.ts";
import { readPair, writePair } from "./pairsSection.ts";
import type { StateSection } from "./sections.ts";

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
    for (const { block, at } of changesBackwards(view.history)) {
      out.varint(revisionAt(block, at));
      out.byteString(keyAt(block, at));
      writeBefore(out, beforeAt(block, at));
      yield;
    }
  },
  restore(state) {
    const builder = new HistoryBuilder(state.history, state.pairs);
    let revision = 0;
    let changes: ReplacedPair[] = [];
    const close = (): void => {
      if (changes.length > 0) builder.add(revision, changes);
      changes = [];
    };
    return {
      item(input) {
        const found = input.varint("revision");
        const change = readChange(input);
        if (found > state.revision || found <= state.history.floor || (revision > 0 && found > revision))
          input.fail("its history is not of kept revisions in descending order");
        if (input.problem !== undefined) return;
        if (found !== revision) close();
        revision = found;
        changes.push(change);
      },
      end() {
        close();
        builder.finish();
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

function readChange(input: ByteReader): ReplacedPair {
  const key = input.byteString("key", maxKeyBytes);
  const kind = input.byte("pair before");
  const pair = kind > 0 ? readPair(input) : undefined;
  const before = pair !== undefined && kind === 2 ? { ...pair, session: input.varint("session") } : pair;
  if (kind > 2 || !isKey(key) || (before !== undefined && before.key !== key)) {
    input.fail("a change in its history makes no sense");
  }
  return { key, before };
}
