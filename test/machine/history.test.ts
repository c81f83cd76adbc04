/** Every kept revision can be read as it was, others are refused, and the changes lead from one to the next. */
import { encodeProposal, type KeyRange, type Proposal, type StoredPair } from "@quorate/client/protocol";
import {
  applyEntry,
  beginCount,
  countOn,
  createStore,
  getPairAt,
  hashState,
  listPairsAt,
  recordsAfter,
  restoreContent,
  type StoreState,
  standingOf,
  viewOf,
  writeContent,
} from "@quorate/kv/machine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longHistories } from "./histories.ts";
import { createLog, put, remove } from "./log.ts";
import { StoreModel } from "./storeModel.ts";

const ranges: readonly KeyRange[] = [
  { from: "", to: "" },
  { from: "a", to: "b" },
  { from: "a\0", to: "" },
  { from: "b", to: "b\0" },
];

function expectThePast(state: StoreState, model: StoreModel): void {
  expect(state.history.floor).toBe(model.floor);
  for (let revision = 0; revision <= model.revision + 1; revision += 1) {
    const kind = revision > model.revision ? "future" : revision < model.floor ? "compacted" : "kept";
    expect(standingOf(state, revision).kind).toBe(kind);
    if (kind === "kept") expectRevision(state, model, revision);
  }
}

function expectRevision(state: StoreState, model: StoreModel, revision: number): void {
  for (const key of ["a", "b", "a\0", "\u00ff"]) {
    expect(getPairAt(state, key, revision)).toEqual(model.states[revision]?.get(key));
  }
  for (const range of ranges) {
    const all = model.list(revision, range);
    const span = { limit: 3, reverse: false, keysOnly: false };
    expect(listPairsAt(state, range, revision, span)).toEqual({
      pairs: all.slice(0, 3),
      more: all.length > 3,
    });
    const reversed = listPairsAt(state, range, revision, { limit: 2, reverse: true, keysOnly: false });
    expect(reversed.pairs).toEqual(all.reverse().slice(0, 2));
    const counting = beginCount(state, range, revision);
    while (!countOn(counting, 2)) {}
    expect(counting.count).toBe(all.length);
  }
}

describe("the history", () => {
  it("reads every kept revision as it was, also after a restore, and knows which are not", () => {
    let cut = 0;
    fc.assert(
      fc.property(
        longHistories,
        fc.integer({ min: 1, max: 12 }),
        ({ proposals, entries }, historyRevisions) => {
          const state = createStore();
          const model = new StoreModel();
          const limit: Proposal = {
            origin: { kind: "anonymous" },
            command: { kind: "limitStore", limits: { historyRevisions } },
          };
          const limiting = { index: 0, term: 1, kind: "command", data: encodeProposal(limit) };
          applyEntry(state, limiting);
          model.apply(limiting, limit);
          for (const [at, entry] of entries.entries()) {
            applyEntry(state, entry);
            model.apply(entry, proposals[at] as Proposal);
          }
          expectThePast(state, model);
          const restoration = restoreContent();
          for (const chunk of writeContent(viewOf(state), 30)) restoration.add(chunk);
          const restored = restoration.finish();
          expect(hashState(restored)).toBe(hashState(state));
          expect([restored.bytes, restored.digest, restored.history.bytes]).toEqual([
            state.bytes,
            state.digest,
            state.history.bytes,
          ]);
          expectThePast(restored, model);
          if (model.floor > 0) cut += 1;
        },
      ),
      { numRuns: 150 },
    );
    expect(cut).toBeGreaterThan(30);
  });

  it("leads from each kept revision to the present, change by change", () => {
    fc.assert(
      fc.property(longHistories, ({ proposals, entries }) => {
        const state = createStore();
        const model = new StoreModel();
        for (const [at, entry] of entries.entries()) {
          applyEntry(state, entry);
          model.apply(entry, proposals[at] as Proposal);
        }
        const { floor } = state.history;
        const pairs = new Map<string, StoredPair>(model.states[floor]);
        let last = floor;
        for (const { revision, changes } of recordsAfter(state.history, state.pairs, floor)) {
          expect(revision).toBe(last + 1);
          last = revision;
          for (const { key, before, after } of changes) {
            expect(pairs.get(key)).toEqual(before);
            if (after === undefined) pairs.delete(key);
            else pairs.set(key, after);
          }
          expect(pairs).toEqual(model.states[revision]);
        }
        expect(last).toBe(model.revision);
      }),
      { numRuns: 100 },
    );
  });

  it("is cut by its bytes, never below its newest revision, and gives the memory free", () => {
    const log = createLog();
    log.run({ kind: "limitStore", limits: { historyBytes: 10_000 } });
    for (let n = 0; n < 2_000; n += 1) log.run(put("k", new Uint8Array(900)));
    const { history } = log.state;
    expect(history.bytes).toBeLessThanOrEqual(10_000);
    expect(history.size).toBe(10);
    expect(history.floor).toBe(1_990);
    expect(history.blocks.reduce((sum, { count }) => sum + count, 0)).toBeLessThan(600);
    log.run(put("k", new Uint8Array(1_000_000)));
    log.run(remove("k"));
    expect([history.size, history.floor]).toEqual([1, 2_001]);
    expect(getPairAt(log.state, "k", 2_001)?.value.length).toBe(1_000_000);
  });

  it("has little memory in its blocks that nothing is in, as it grows and after a restore", () => {
    const log = createLog();
    for (let n = 0; n < 6_000; n += 1) log.run(put(`key/${n % 50}`, "v".repeat(50 + ((n * 31) % 300))));
    const restoration = restoreContent();
    for (const chunk of writeContent(viewOf(log.state))) restoration.add(chunk);
    for (const { history } of [log.state, restoration.finish()]) {
      const full = history.blocks.slice(1, -1);
      const held = full.reduce((sum, { slab }) => sum + slab.bytes.length, 0);
      const used = full.reduce((sum, { end }) => sum + end, 0);
      expect(full.length).toBeGreaterThan(15);
      expect(held).toBeLessThan(1.15 * used);
    }
  });

  it("stays as it was in a view, whatever is added and cut meanwhile", () => {
    const log = createLog();
    for (let n = 1; n <= 700; n += 1) log.run(put(`k${n % 5}`, `v${n}`));
    const view = viewOf(log.state);
    const told = hashState(view);
    log.run({ kind: "limitStore", limits: { historyRevisions: 3 } });
    for (let n = 1; n <= 700; n += 1) log.run(put(`k${n % 5}`, `w${n}`));
    expect(hashState(view)).toBe(told);
    expect(getPairAt(view, "k0", 5)?.version).toBe(1);
    expect(view.history.size).toBe(700);
  });

  it("tells what each change put in both of two states that go on from one", () => {
    const log = createLog();
    for (let n = 1; n <= 20; n += 1) log.run(put(`k${n % 5}`, `v${n}`));
    const other = viewOf(log.state);
    const text = (state: StoreState): string[] =>
      [...recordsAfter(state.history, state.pairs, 0)].flatMap(({ changes }) =>
        changes.map(({ key, after }) => `${key}=${after && Buffer.from(after.value).toString()}`),
      );
    const before = text(log.state);
    for (const [state, mark] of [
      [log.state, "w"],
      [other, "x"],
      [log.state, "y"],
    ] as const) {
      for (let n = 1; n <= 3; n += 1) {
        const command = mark === "x" ? put(`k${4 - n}`, `x${n}`) : put(`k${n}`, `${mark}${n}`);
        const data = encodeProposal({ origin: { kind: "anonymous" }, command });
        applyEntry(state, { index: 100, term: 1, kind: "command", data });
      }
    }
    const mine = ["w", "y"].flatMap((mark) => [1, 2, 3].map((n) => `k${n}=${mark}${n}`));
    expect(text(log.state)).toEqual([...before, ...mine]);
    expect(text(other)).toEqual([...before, ...[1, 2, 3].map((n) => `k${4 - n}=x${n}`)]);
  });
});

describe("a key that is written more often than a block of the history has room for", () => {
  it("is told by each revision with what that one put, at the edge of a block too", () => {
    const { state, run } = createLog();
    for (let revision = 1; revision <= 600; revision += 1) run(put("a", `${revision}`));
    for (const { revision, changes } of recordsAfter(state.history, state.pairs, 0)) {
      expect(changes.map(({ after }) => after?.modRevision)).toEqual([revision]);
    }
  });
});
