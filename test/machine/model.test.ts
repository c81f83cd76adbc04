/** The machine against the simplest thing that could be right: a `Map`, and what each command answered. */
import { type Command, type CommandResult, type Proposal, sessionWindow } from "@quorate/client/protocol";
import {
  type AppliedEntry,
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

interface ModelPair {
  value: string;
  create: number;
  mod: number;
  version: number;
}

interface Model {
  revision: number;
  pairs: Map<string, ModelPair>;
  /** By session: the answers given by sequence, and what is acknowledged. */
  sessions: Map<number, { answers: Map<number, CommandResult>; ackedBelow: number }>;
}

function runInModel(model: Model, entry: AppliedEntry, command: Command): CommandResult {
  if (command.kind === "openSession") {
    model.sessions.set(entry.index, { answers: new Map(), ackedBelow: 1 });
    return { kind: "sessionOpened", session: entry.index };
  }
  if (command.kind === "expireSession" && command.term !== entry.term) return { kind: "nothing" };
  if (command.kind === "closeSession" || command.kind === "expireSession") {
    return { kind: "sessionClosed", existed: model.sessions.delete(command.session) };
  }
  if (command.kind !== "put" && command.kind !== "delete") throw new Error(`not drawn: ${command.kind}`);
  const { key, condition } = command;
  const pair = model.pairs.get(key);
  const mod = pair === undefined ? 0 : pair.mod;
  const holds =
    condition.kind === "none" ||
    (condition.kind === "absent" && pair === undefined) ||
    (condition.kind === "revision" && condition.revision === mod);
  if (!holds) return { kind: "conflict", modRevision: mod };
  if (command.kind === "delete") {
    if (pair !== undefined) model.revision += 1;
    model.pairs.delete(key);
    return { kind: "deleted", revision: model.revision, existed: pair !== undefined };
  }
  model.revision += 1;
  const value = Buffer.from(command.value).toString("hex");
  const [create, version] = pair === undefined ? [model.revision, 1] : [pair.create, pair.version + 1];
  model.pairs.set(key, { value, create, mod: model.revision, version });
  return { kind: "put", revision: model.revision };
}

function applyToModel(model: Model, entry: AppliedEntry, { origin, command }: Proposal): CommandResult {
  if (origin.kind === "anonymous") return runInModel(model, entry, command);
  const session = model.sessions.get(origin.session);
  if (session === undefined) return { kind: "sessionEnded" };
  session.ackedBelow = Math.max(session.ackedBelow, origin.ackedBelow);
  if (origin.sequence < session.ackedBelow) return { kind: "alreadyAcknowledged" };
  if (origin.sequence >= session.ackedBelow + sessionWindow) return { kind: "beyondWindow" };
  const answer = session.answers.get(origin.sequence) ?? runInModel(model, entry, command);
  session.answers.set(origin.sequence, answer);
  return answer;
}

describe("the machine", () => {
  it("answers every command as the model does, and holds the same pairs and sessions", () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(histories, ({ proposals, entries }) => {
        const state = createStore();
        const model: Model = { revision: 0, pairs: new Map(), sessions: new Map() };
        for (const [at, entry] of entries.entries()) {
          const result = applyEntry(state, entry);
          kinds.add(result.kind);
          expect(result).toEqual(applyToModel(model, entry, proposals[at] as Proposal));
        }
        expect(revision(state)).toBe(model.revision);
        expect([...sessions(state).keys()]).toEqual([...model.sessions.keys()]);
        const { pairs } = listPairs(
          state,
          { from: "", to: "" },
          { limit: 100, reverse: false, keysOnly: false },
        );
        const held = pairs.map((pair) => [
          pair.key,
          {
            value: Buffer.from(pair.value).toString("hex"),
            create: pair.createRevision,
            mod: pair.modRevision,
            version: pair.version,
          },
        ]);
        expect(held).toEqual([...model.pairs].sort(([a], [b]) => (a < b ? -1 : 1)));
      }),
      { numRuns: 1_000 },
    );
    const all = ["put", "deleted", "conflict", "sessionOpened", "sessionClosed", "nothing"];
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
