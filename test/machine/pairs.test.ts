/** Keys, conditions, revisions and lists of the machine; and that no entry makes it throw. */
import { keyAfter, prefixRange, type StoredPair } from "@quorate/client/protocol";
import { createStore, getPair, hashState, listPairs, pairCount, revision } from "@quorate/kv/machine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteStrings } from "../protocol/arbitraries.ts";
import { createLog, ifAbsent, ifRevision, put, remove } from "./log.ts";

const everything = { from: "", to: "" };
const wholePage = { limit: 10_000, reverse: false, keysOnly: false };

function keysOf(pairs: readonly StoredPair[]): string[] {
  return pairs.map((pair) => pair.key);
}

describe("a key", () => {
  it("tells when it was created, when it was written last, and how often since", () => {
    const log = createLog();
    expect(getPair(log.state, "a")).toBeUndefined();
    expect(log.run(put("a", "1"))).toEqual({ kind: "put", revision: 1 });
    expect(log.run(put("b", "1"))).toEqual({ kind: "put", revision: 2 });
    expect(log.run(put("a", Uint8Array.of(2)))).toEqual({ kind: "put", revision: 3 });
    expect(getPair(log.state, "a")).toEqual({
      key: "a",
      value: Uint8Array.of(2),
      format: "bytes",
      createRevision: 1,
      modRevision: 3,
      version: 2,
    });
  });

  it("starts anew after a delete, at the revisions of its new life", () => {
    const log = createLog();
    log.run(put("a", "1"));
    log.run(put("a", "2"));
    expect(log.run(remove("a"))).toEqual({ kind: "deleted", revision: 3, existed: true });
    expect(getPair(log.state, "a")).toBeUndefined();
    log.run(put("a", "3"));
    expect(getPair(log.state, "a")).toMatchObject({ createRevision: 4, modRevision: 4, version: 1 });
  });

  it("that is absent leaves the revision as it is when it is deleted", () => {
    const log = createLog();
    log.run(put("a", "1"));
    expect(log.run(remove("b"))).toEqual({ kind: "deleted", revision: 1, existed: false });
    expect(revision(log.state)).toBe(1);
  });

  it("is written only under its condition, and a conflict tells its revision", () => {
    const log = createLog();
    expect(log.run(put("a", "1", ifAbsent))).toEqual({ kind: "put", revision: 1 });
    expect(log.run(put("a", "2", ifAbsent))).toEqual({ kind: "conflict", modRevision: 1 });
    expect(log.run(put("a", "2", ifRevision(7)))).toEqual({ kind: "conflict", modRevision: 1 });
    expect(log.run(put("b", "2", ifRevision(7)))).toEqual({ kind: "conflict", modRevision: 0 });
    expect(log.run(remove("a", ifAbsent))).toEqual({ kind: "conflict", modRevision: 1 });
    expect(log.run(remove("b", ifRevision(1)))).toEqual({ kind: "conflict", modRevision: 0 });
    expect(revision(log.state)).toBe(1);
    expect(log.run(put("a", "2", ifRevision(1)))).toEqual({ kind: "put", revision: 2 });
    expect(log.run(remove("a", ifRevision(2)))).toEqual({ kind: "deleted", revision: 3, existed: true });
    expect(log.run(remove("a", ifAbsent))).toEqual({ kind: "deleted", revision: 3, existed: false });
    expect(log.run(put("a", "3", ifRevision(0)))).toEqual({ kind: "put", revision: 4 });
  });

  it("keeps its value when the entry's buffer is written over", () => {
    const log = createLog();
    log.run(put("a", "before"));
    log.entries[0]?.data.fill(0);
    expect(getPair(log.state, "a")?.value).toEqual(new TextEncoder().encode("before"));
  });
});

describe("entries that are no command, or none that makes sense", () => {
  it("change nothing, and are answered all the same", () => {
    const log = createLog();
    log.run(put("a", "1"));
    const before = hashState(log.state);
    expect(log.append(new Uint8Array(), "noop")).toEqual({ kind: "nothing" });
    expect(log.append(Uint8Array.of(1, 2, 3), "configuration")).toEqual({ kind: "nothing" });
    expect(log.append(new Uint8Array())).toMatchObject({ kind: "malformed" });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(log.append(Uint8Array.from([0, ...bytes]))).toMatchObject({ kind: "malformed" });
      }),
    );
    expect(hashState(log.state)).toBe(before);
  });

  it("never make it throw, whatever the bytes are", () => {
    const log = createLog();
    const kinds = new Set<string>();
    const commandLike = fc
      .tuple(
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 0, max: 1 }),
        fc.uint8Array({ maxLength: 16, max: 4 }),
      )
      .map(([kind, origin, rest]) => Uint8Array.from([1, kind, origin, ...rest]));
    fc.assert(
      fc.property(commandLike, (bytes) => {
        kinds.add(log.append(bytes).kind);
      }),
      { numRuns: 5_000 },
    );
    expect([...kinds]).toEqual(
      expect.arrayContaining(["malformed", "put", "sessionOpened", "sessionClosed"]),
    );
  });
});

describe("a list", () => {
  // Few bytes, so that bounds are often keys themselves.
  const unit = fc.constantFrom("\0", "a", "b", "\u0080", "\u00ff");
  const stored = fc.uniqueArray(
    fc.oneof(fc.string({ unit, minLength: 1, maxLength: 3 }), byteStrings(1, 3)),
    {
      maxLength: 60,
    },
  );
  const bound = fc.oneof(fc.constant(""), fc.string({ unit, maxLength: 2 }));

  it("holds the keys of the range in the order of their bytes, page after page, in either direction", () => {
    fc.assert(
      fc.property(
        stored,
        bound,
        bound,
        fc.integer({ min: 1, max: 20 }),
        fc.boolean(),
        (keys, from, to, limit, reverse) => {
          const log = createLog();
          for (const key of keys) log.run(put(key, "value"));
          const expected = keys
            .filter((key) => key >= from && (to === "" || key < to))
            .sort((a, b) => Buffer.compare(Buffer.from(a, "latin1"), Buffer.from(b, "latin1")));
          if (reverse) expected.reverse();

          const found: string[] = [];
          let range = { from, to };
          for (let pages = 1; ; pages += 1) {
            const page = listPairs(log.state, range, { limit, reverse, keysOnly: false });
            found.push(...keysOf(page.pairs));
            expect(page.pairs.length).toBeLessThanOrEqual(limit);
            expect(pages).toBeLessThanOrEqual(keys.length + 1);
            if (!page.more) break;
            expect(page.pairs.length).toBe(limit);
            const last = found.at(-1) as string;
            range = reverse ? { from, to: last } : { from: keyAfter(last), to };
          }
          expect(found).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("of a prefix holds the keys that begin with it", () => {
    const log = createLog();
    for (const key of ["job", "jobs/", "jobs/1", "jobs/2", "jobs0", "k", "\u00ff", "\u00ff\u00ff"])
      log.run(put(key, ""));
    expect(keysOf(listPairs(log.state, prefixRange("jobs/"), wholePage).pairs)).toEqual([
      "jobs/",
      "jobs/1",
      "jobs/2",
    ]);
    expect(keysOf(listPairs(log.state, prefixRange("\u00ff"), wholePage).pairs)).toEqual([
      "\u00ff",
      "\u00ff\u00ff",
    ]);
    expect(listPairs(log.state, prefixRange(""), wholePage).pairs).toHaveLength(pairCount(log.state));
  });

  it("is empty where the range is empty or upside down", () => {
    const log = createLog();
    log.run(put("b", ""));
    for (const reverse of [false, true]) {
      expect(listPairs(log.state, { from: "b", to: "b" }, { ...wholePage, reverse }).pairs).toEqual([]);
      expect(listPairs(log.state, { from: "c", to: "a" }, { ...wholePage, reverse }).pairs).toEqual([]);
      expect(listPairs(createStore(), everything, { ...wholePage, reverse })).toEqual({
        pairs: [],
        more: false,
      });
    }
  });

  it("ends a page at the bound of bytes, but gives one pair at least", () => {
    const log = createLog();
    for (const key of ["a", "b", "c"]) log.run(put(key, new Uint8Array(1_000)));
    const page = (maxBytes: number, keysOnly: boolean) => {
      const { pairs, more } = listPairs(log.state, everything, { ...wholePage, keysOnly, maxBytes });
      return [keysOf(pairs), more];
    };
    expect(page(1, false)).toEqual([["a"], true]);
    expect(page(2_500, false)).toEqual([["a", "b"], true]);
    expect(page(4_000, false)).toEqual([["a", "b", "c"], false]);
    expect(page(2_500, true)).toEqual([["a", "b", "c"], false]);
  });

  it("of keys only has no values, and leaves those of the store alone", () => {
    const log = createLog();
    log.run(put("a", "value"));
    const { pairs } = listPairs(log.state, everything, { ...wholePage, keysOnly: true });
    expect(pairs).toEqual([{ ...getPair(log.state, "a"), value: new Uint8Array(0) }]);
    expect(getPair(log.state, "a")?.value).toHaveLength(5);
  });
});
