/**
 * The states of the real machine, interned: each entry is applied once to each state that it meets.
 *
 * An entry's index says only what came before what, so it is the first that the state has not used: states which
 * differ only in how many entries it took to reach them are one.
 */
import {
  type Command,
  type CommandResult,
  encodeProposal,
  type SessionLease,
} from "@quorate/client/protocol";
import type { StoreState } from "@quorate/kv/machine";
import type { Subject } from "./subject.ts";

export interface ExploredCommand {
  readonly label: string;
  readonly command: Command;
  /** Whose command it is; the leader's or an administrator's: -1. */
  readonly client: number;
  readonly sequence: number;
  readonly data: Uint8Array;
}

export interface SessionFacts {
  readonly renewals: number;
  readonly silentMs: number;
  readonly leases: readonly SessionLease[];
}

interface Known {
  readonly state: StoreState;
  readonly index: number;
  /** By client; undefined where its session has ended. */
  readonly sessions: readonly (SessionFacts | undefined)[];
  readonly term: number;
  readonly holder: number;
}

export interface AppliedCommand {
  readonly store: number;
  readonly result: CommandResult;
}

export const name = "x";

export class Stores {
  readonly commands: ExploredCommand[] = [];
  readonly sessions: number[] = [];
  readonly #subject: Subject;
  readonly #known: Known[] = [];
  readonly #ids: Map<string, number> = new Map();
  readonly #commandIds: Map<string, number> = new Map();
  readonly #applied: Map<string, AppliedCommand> = new Map();

  constructor(subject: Subject, ttlsMs: readonly number[]) {
    this.#subject = subject;
    const state = subject.machine.createStore();
    for (const ttlMs of ttlsMs) {
      const data = encodeProposal({ origin: { kind: "anonymous" }, command: { kind: "openSession", ttlMs } });
      const index = this.sessions.length + 1;
      subject.machine.applyEntry(state, { index, term: 1, kind: "command", data });
      this.sessions.push(index);
    }
    this.#intern(state);
  }

  get size(): number {
    return this.#known.length;
  }

  state(store: number): StoreState {
    return this.#at(store).state;
  }

  /** Of a client; undefined where it has ended. */
  session(store: number, client: number): SessionFacts | undefined {
    return this.#at(store).sessions[client];
  }

  /** What the client has by its acquire of that sequence. */
  lease(store: number, client: number, sequence: number): SessionLease | undefined {
    return this.session(store, client)?.leases.find((lease) => lease.sequence === sequence);
  }

  /** The term of the name's last grant, and its holder's session; 0: nobody. */
  grant(store: number): { readonly term: number; readonly holder: number } {
    return this.#at(store);
  }

  /** With a sequence, as the client's own. */
  command(label: string, command: Command, client = -1, sequence = 0): number {
    const key = `${label}/${client}/${sequence}`;
    const known = this.#commandIds.get(key);
    if (known !== undefined) return known;
    const session = this.sessions[client];
    const data = encodeProposal({
      origin:
        session === undefined ? { kind: "anonymous" } : { kind: "session", session, sequence, ackedBelow: 1 },
      command,
    });
    this.#commandIds.set(key, this.commands.length);
    return this.commands.push({ label, command, client, sequence, data }) - 1;
  }

  apply(store: number, command: number, term: number): AppliedCommand {
    const key = `${store}/${command}/${term}`;
    const known = this.#applied.get(key);
    if (known !== undefined) return known;
    const { state, index } = this.#at(store);
    const copy = this.#subject.machine.viewOf(state);
    copy.generation += 1; // what the original hangs on a session is copied before it is written to
    const { data } = this.commands[command]!;
    const result = this.#subject.machine.applyEntry(copy, { index, term, kind: "command", data });
    const applied = { store: this.#intern(copy), result };
    this.#applied.set(key, applied);
    return applied;
  }

  #at(store: number): Known {
    return this.#known[store]!;
  }

  #intern(state: StoreState): number {
    const { machine } = this.#subject;
    const index = 1 + Math.max(...this.sessions, ...usedIndexes(state));
    const key = `${index}/${machine.hashState(state)}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const { term, session } = machine.getLease(state, name);
    const sessions = this.sessions.map((id) => {
      const found = state.sessions.get(id);
      if (found === undefined) return undefined;
      const { renewals, silentMs } = found;
      return { renewals, silentMs, leases: machine.leaseSetOf(state, id)?.leases ?? [] };
    });
    this.#ids.set(key, this.#known.length);
    return this.#known.push({ state, index, sessions, term, holder: session }) - 1;
  }
}

function usedIndexes(state: StoreState): number[] {
  const changed = [...state.leases.values()].map((lease) => lease.changed);
  return [...changed, ...[...state.sessions.values()].map(({ version }) => version)];
}
