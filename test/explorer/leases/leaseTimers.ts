/**
 * The real clock of leases, asked once for each state and moment: which timer it starts there, and what it proposes
 * when that is due.
 */
import { decodeProposal } from "@quorate/client/protocol";
import { silentLogger } from "@quorate/raft";
import type { Stores } from "./stores.ts";
import type { Subject } from "./subject.ts";
import type { Timer } from "./world.ts";

export interface LeaseTimerOptions {
  readonly tickMs: number;
  readonly claimWindowMs: number;
}

export class LeaseTimers {
  readonly #subject: Subject;
  readonly #stores: Stores;
  readonly #options: LeaseTimerOptions;
  readonly #known: Map<string, Timer | undefined> = new Map();

  constructor(subject: Subject, stores: Stores, options: LeaseTimerOptions) {
    this.#subject = subject;
    this.#stores = stores;
    this.#options = options;
  }

  /** `heardMs`: by session. */
  started(store: number, office: number, now: number, heardMs: readonly number[]): Timer | undefined {
    const key = `${store}/${office}/${now}/${heardMs.join()}`;
    if (!this.#known.has(key)) this.#known.set(key, this.#start(store, office, now, heardMs));
    return this.#known.get(key);
  }

  #start(store: number, office: number, now: number, heardMs: readonly number[]): Timer | undefined {
    const { tickMs, claimWindowMs } = this.#options;
    let nowMs = now * tickMs;
    let armed: { readonly dueMs: number; readonly fn: () => void } | undefined;
    let proposed: Uint8Array | undefined;
    const clock = new this.#subject.server.LeaseClock(
      {
        node: {
          propose: (data) => {
            proposed = data;
            return new Promise(() => {});
          },
        },
        clock: {
          nowMs: () => nowMs,
          bootMs: () => nowMs,
          after: (delayMs, fn) => {
            armed = { dueMs: nowMs + delayMs, fn };
            return () => {};
          },
          defer: (fn) => fn(),
        },
        logger: silentLogger,
        store: this.#stores.state(store),
        heardMs: (session) => heardMs[this.#stores.sessions.indexOf(session)]!,
      },
      { claimWindowMs, retryMs: 1_000_000_000 },
    );
    clock.begin(office);
    if (armed === undefined) return undefined;
    const { dueMs, fn } = armed;
    nowMs = dueMs;
    fn();
    const decoded = decodeProposal(proposed!);
    if (decoded.kind !== "proposal" || decoded.proposal.command.kind !== "leasesDue") {
      throw new Error("The clock of leases has proposed something else.");
    }
    const { command } = decoded.proposal;
    const { what, term } = command.due[0]!;
    return {
      what,
      term,
      command: this.#stores.command(`${what} of term ${term}, by the leader of ${office}`, command),
      due: Math.ceil(dueMs / tickMs),
      isProposed: false,
    };
  }
}
