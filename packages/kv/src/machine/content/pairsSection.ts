/**
 * The pairs, in the order of their keys: key, value, format, createRevision, modRevision, version.
 *
 * They are restored in runs, for a map that is filled key by key takes ten times as long.
 */
import {
  type ByteReader,
  type ByteString,
  type Format,
  isKey,
  maxKeyBytes,
  maxValueBytes,
  type StoredPair,
} from "@quorate/client/protocol";
import { withRun } from "../orderedMap.ts";
import { addToDigest } from "../pairsDigest.ts";
import type { StoreState } from "../storeState.ts";
import { bytesOfPair } from "../writes.ts";
import type { ContentWriter } from "./contentWriter.ts";
import type { SectionRestoration, StateSection } from "./sections.ts";
import { createSlabs, type Keep } from "./slabs.ts";

/** By their numbers in the content: only ever add at the end. */
const formats: readonly Format[] = ["bytes", "text", "json"];

const runPairs = 2_048;

export const pairsSection: StateSection = {
  tag: 2,
  name: "pairs",
  *write(view, out) {
    for (const pair of view.pairs.values()) {
      writePair(out, pair);
      yield;
    }
  },
  restore: restorePairs,
};

export function writePair(out: ContentWriter, pair: StoredPair): void {
  out.byteString(pair.key);
  out.run(pair.value);
  out.byte(formats.indexOf(pair.format));
  out.varint(pair.createRevision);
  out.varint(pair.modRevision);
  out.varint(pair.version);
}

function restorePairs(state: StoreState): SectionRestoration {
  let keys: ByteString[] = [];
  let pairs: StoredPair[] = [];
  let lastKey = "";
  const keep = createSlabs();
  const flush = (): void => {
    if (keys.length > 0) state.pairs = withRun(state.pairs, keys, pairs);
    keys = [];
    pairs = [];
  };
  return {
    item(input) {
      const pair = readPair(input, keep);
      if (!isKey(pair.key) || pair.key <= lastKey) input.fail("its keys are not keys in ascending order");
      if (input.problem !== undefined) return;
      lastKey = pair.key;
      state.bytes += bytesOfPair(pair);
      addToDigest(state.digest, pair);
      keys.push(pair.key);
      pairs.push(pair);
      if (keys.length >= runPairs) flush();
    },
    end: flush,
  };
}

export function readPair(input: ByteReader, keep: Keep): StoredPair {
  const key = input.byteString("key", maxKeyBytes);
  const value = keep(input.view("value", maxValueBytes));
  const format = formats[input.byte("format")];
  if (format === undefined) input.fail("its format is unknown");
  return {
    key,
    value,
    format: format ?? "bytes",
    createRevision: input.varint("createRevision"),
    modRevision: input.varint("modRevision"),
    version: input.varint("version"),
  };
}
