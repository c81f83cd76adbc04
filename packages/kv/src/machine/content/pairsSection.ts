/**
 * The pairs, in the order of their keys: key, value, format, createRevision, modRevision, version.
 *
 * They are restored in runs, for a map that is filled key by key takes ten times as long.
 */
import {
  type ByteReader,
  type Format,
  isKey,
  maxKeyBytes,
  maxValueBytes,
  type StoredPair,
} from "@quorate/client/protocol";
import { addToDigest } from "../pairsDigest.ts";
import type { StoreState } from "../storeState.ts";
import { bytesOfPair } from "../writes.ts";
import type { ContentWriter } from "./contentWriter.ts";
import type { SectionRestoration, StateSection } from "./sections.ts";

/** By their numbers in the content: only ever add at the end. */
const formats: readonly Format[] = ["bytes", "text", "json"];

const runPairs = 2_048;

export const pairsSection: StateSection = {
  tag: 2,
  name: "pairs",
  *write(view, out) {
    for (const pair of view.pairs.drain()) {
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
  let pairs: StoredPair[] = [];
  let lastKey = "";
  const flush = (): void => {
    if (pairs.length > 0) state.pairs.append(pairs);
    pairs = [];
  };
  return {
    item(input) {
      const pair = readPair(input);
      if (!isKey(pair.key) || pair.key <= lastKey) input.fail("its keys are not keys in ascending order");
      if (input.problem !== undefined) return;
      lastKey = pair.key;
      state.bytes += bytesOfPair(pair);
      addToDigest(state.digest, pair);
      pairs.push(pair);
      if (pairs.length >= runPairs) flush();
    },
    end: flush,
  };
}

/** Its value is as good as the bytes that are read. */
export function readPair(input: ByteReader): StoredPair {
  const key = input.byteString("key", maxKeyBytes);
  const value = input.view("value", maxValueBytes);
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
