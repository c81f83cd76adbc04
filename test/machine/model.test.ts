/** The machine against the simplest thing that could be right (storeModel.ts). */
import type { Proposal } from "@quorate/client/protocol";
import {
  applyEntry,
  createSession,
  createStore,
  hashState,
  listPairs,
  revision,
  sessions,
} from "@quorate/kv/machine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { histories } from "./histories.ts";
import { replay } from "./log.ts";
import { StoreModel } from "./storeModel.ts";

const everything = { from: "", to: "" };
const wholly = { limit: 100, reverse: false, keysOnly: false };

describe("the machine", () => {
  it("answers every command as the model does, and holds the same pairs and sessions", () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(histories, ({ proposals, entries }) => {
        const state = createStore();
        const model = new StoreModel();
        for (const [at, entry] of entries.entries()) {
          const result = applyEntry(state, entry);
          kinds.add(result.kind);
          expect(result).toEqual(model.apply(entry, proposals[at] as Proposal));
        }
        expect(revision(state)).toBe(model.revision);
        expect([...sessions(state).keys()]).toEqual([...model.sessions.keys()]);
        expect(listPairs(state, everything, wholly).pairs).toEqual(model.list(model.revision, everything));
      }),
      { numRuns: 1_000 },
    );
    const all = ["put", "deleted", "conflict", "sessionOpened", "sessionClosed", "nothing", "transacted"];
    expect([...kinds]).toEqual(
      expect.arrayContaining([...all, "sessionEnded", "alreadyAcknowledged", "beyondWindow"]),
    );
  });

  it("comes to the same digest by the same entries, and to another where one entry is missing", () => {
    let told = 0;
    fc.assert(
      fc.property(histories, fc.nat(), ({ entries }, missing) => {
        const whole = hashState(replay(entries));
        expect(hashState(replay(entries.map((entry) => ({ ...entry, data: entry.data.slice() }))))).toBe(
          whole,
        );
        if (hashState(replay(entries.filter((_, at) => at !== missing % entries.length))) !== whole)
          told += 1;
      }),
      { numRuns: 300 },
    );
    expect(told).toBeGreaterThan(30);
  });

  it("tells states apart by every field that they have", () => {
    const build = (change: (state: ReturnType<typeof createStore>) => void) => {
      const state = createStore();
      state.revision = 5;
      const pair = { createRevision: 1, modRevision: 2, version: 2, format: "text" } as const;
      state.pairs.set("k", { ...pair, key: "k", value: Uint8Array.of(1, 2) });
      state.sessions.set(3, {
        ...createSession(5_000, 0),
        answers: new Map([[1, { kind: "put", revision: 2 }]]),
      });
      change(state);
      return hashState(state);
    };
    const pair = {
      key: "k",
      value: Uint8Array.of(1, 2),
      format: "text",
      createRevision: 1,
      modRevision: 2,
      version: 2,
    };
    const changes: ((state: ReturnType<typeof createStore>) => void)[] = [
      () => {},
      (state) => {
        state.revision = 6;
      },
      ...[
        { value: Uint8Array.of(1, 3) },
        { value: Uint8Array.of(1) },
        { format: "json" },
        { createRevision: 2 },
        { modRevision: 1 },
        { version: 1 },
        { version: 2 ** 32 + 2 },
        { session: 3 },
      ].map((part) => (state: ReturnType<typeof createStore>) => {
        state.pairs.set("k", { ...pair, ...part } as never);
      }),
      (state) => {
        state.pairs.delete("k");
      },
      (state) => {
        state.sessions.clear();
      },
      ...[
        { ttlMs: 5_001 },
        { ackedBelow: 2 },
        { answers: new Map() },
        { answers: new Map([[2, { kind: "put", revision: 2 }]]) },
        { answers: new Map([[1, { kind: "put", revision: 3 }]]) },
        { answers: new Map([[1, { kind: "conflict", modRevision: 2 }]]) },
        { renewals: 1 },
        { silentMs: 2_000 },
        { version: 2 },
      ].map((part) => (state: ReturnType<typeof createStore>) => {
        state.sessions.set(3, { ...state.sessions.get(3), ...part } as never);
      }),
    ];
    expect(new Set(changes.map(build)).size).toBe(changes.length);
  });
});
