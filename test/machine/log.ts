/** A log of one store: proposals in, results out, with the index and term that Raft would give. */
import {
  type Command,
  type CommandResult,
  type Condition,
  encodeProposal,
  type Origin,
} from "@quorate/client/protocol";
import { type AppliedEntry, applyEntry, createStore, type StoreState } from "@quorate/kv/machine";

export interface Log {
  readonly state: StoreState;
  readonly entries: AppliedEntry[];
  term: number;
  append(data: Uint8Array, kind?: string): CommandResult;
  run(command: Command): CommandResult;
  runIn(origin: { session: number; sequence: number; ackedBelow: number }, command: Command): CommandResult;
  openSession(ttlMs?: number): number;
}

export function createLog(): Log {
  const state = createStore();
  const entries: AppliedEntry[] = [];
  const log: Log = {
    state,
    entries,
    term: 1,
    append(data, kind = "command") {
      const entry = { index: entries.length + 1, term: log.term, kind, data };
      entries.push(entry);
      return applyEntry(state, entry);
    },
    run: (command) => log.append(encodeProposal({ origin: anonymous, command })),
    runIn: (origin, command) =>
      log.append(encodeProposal({ origin: { kind: "session", ...origin }, command })),
    openSession(ttlMs = 5_000) {
      const result = log.run({ kind: "openSession", ttlMs });
      if (result.kind !== "sessionOpened") throw new Error(`No session was opened: ${result.kind}`);
      return result.session;
    },
  };
  return log;
}

/** The state after applying the same entries from the start: what a restart does. */
export function replay(entries: readonly AppliedEntry[]): StoreState {
  const state = createStore();
  for (const entry of entries) applyEntry(state, entry);
  return state;
}

export const anonymous: Origin = { kind: "anonymous" };
export const always: Condition = { kind: "none" };
export const ifAbsent: Condition = { kind: "absent" };

export function ifRevision(revision: number): Condition {
  return { kind: "revision", revision };
}

export function put(key: string, value: string | Uint8Array, condition: Condition = always): Command {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return { kind: "put", key, value: bytes, format: typeof value === "string" ? "text" : "bytes", condition };
}

export function remove(key: string, condition: Condition = always): Command {
  return { kind: "delete", key, condition };
}
