/**
 * One moment of two clients, their messages, the leader, the one before it that does not know that it was deposed, and
 * the log. Plain values, never changed. Times are ticks of true time since the start; clients count theirs by it.
 */

/** A keep-alive that a leader has read and not answered yet. */
export interface Keeping {
  readonly client: number;
  readonly sent: number;
  readonly arrived: number;
  /** `logged`: its renewal is in the log, and not applied. */
  readonly stage: "arrived" | "logged";
}

export interface Timer {
  readonly what: string;
  readonly term: number;
  /** What is proposed when it is due; an interned command. */
  readonly command: number;
  readonly due: number;
  readonly isProposed: boolean;
}

/** Of one client at one leader; never: -1. */
export interface Account {
  readonly heard: number;
  /** Milliseconds that were marked before this office. */
  readonly silentBeforeMs: number;
  /** When this office marked it last, and when it proposed the mark that is under way. */
  readonly marked: number;
  readonly marking: number;
  readonly expiring: boolean;
}

export interface Leader {
  readonly term: number;
  /** From when it counts; never: -1. */
  readonly since: number;
  /** It has applied its no-op, and all entries before it. */
  readonly isSettled: boolean;
  readonly accounts: readonly [Account, Account];
  readonly keeping: readonly Keeping[];
  readonly timer: Timer | undefined;
}

export type Phase = "idle" | "acquiring" | "waiting" | "claiming" | "holding";

export interface Client {
  readonly phase: Phase;
  /** Of the acquire that it is about. */
  readonly sequence: number;
  readonly nextSequence: number;
  readonly term: number;
  /** The sending of the renewal that its deadline counts from; none: -1. */
  readonly base: number;
  /** The sequence of the acquire or the claim whose answer it waits for; none: 0. */
  readonly awaits: number;
  /** What the cluster has answered to that, and it has not read; nothing: undefined. */
  readonly answered: { readonly kind: string; readonly term: number } | undefined;
  /** Commands on their way; interned. */
  readonly outbox: readonly number[];
  /** The latest sending of all renewals that were confirmed, whether it knows of them or not; none: -1. */
  readonly confirmed: number;
}

/** A keep-alive on its way, or its answer, which names the lease by its term where it is not ending. */
export interface Flight {
  readonly client: number;
  readonly sent: number;
  readonly term: number;
}

export interface Budget {
  /** Keep-alives that each client may send. */
  readonly renewals: readonly [number, number];
  readonly elections: number;
  readonly acquires: number;
  readonly releases: number;
  readonly breaks: number;
  /** Keep-alives that arrive twice. */
  readonly duplicates: number;
}

export interface World {
  readonly now: number;
  /** What is committed, and applied at the leader; interned. */
  readonly store: number;
  /** Before the last entry: what a follower may still have. */
  readonly storeBefore: number;
  /** Entries of the leader's log that are not committed. */
  readonly pending: readonly { readonly command: number; readonly term: number }[];
  readonly leader: Leader;
  /** And what it has applied, for good. */
  readonly deposed: { readonly leader: Leader; readonly store: number } | undefined;
  readonly clients: readonly [Client, Client];
  readonly requests: readonly Flight[];
  readonly answers: readonly Flight[];
  readonly budget: Budget;
}

/** One text for all leaders that nothing can tell apart. */
export function leaderText({ term, since, isSettled, accounts, keeping, timer }: Leader): string {
  let text = `${term},${since},${isSettled}`;
  for (const { heard, silentBeforeMs, marked, marking, expiring } of accounts) {
    text += `;${heard},${silentBeforeMs},${marked},${marking},${expiring}`;
  }
  if (timer !== undefined) text += `;${timer.command},${timer.due},${timer.isProposed}`;
  const kept = keeping.map(({ client, sent, arrived, stage }) => `${client},${sent},${arrived},${stage}`);
  return `${text};${kept.length < 2 ? kept[0] : kept.sort().join(";")}`;
}

function clientText(client: Client): string {
  const { phase, sequence, nextSequence, term, base, awaits, answered, outbox, confirmed } = client;
  const answer = answered === undefined ? "" : `${answered.kind}${answered.term}`;
  const commands = outbox.length < 2 ? outbox[0] : outbox.join();
  return `${phase},${sequence},${nextSequence},${term},${base},${awaits}${answer},${confirmed},${commands}`;
}

function flightsText(flights: readonly Flight[]): string {
  if (flights.length === 0) return "";
  const texts = flights.map(({ client, sent, term }) => `${client}${sent},${term}`);
  return texts.length < 2 ? texts[0]! : texts.sort().join();
}

function budgetText({ renewals, elections, acquires, releases, breaks, duplicates }: Budget): string {
  return `${renewals[0]},${renewals[1]},${elections},${acquires},${releases},${breaks},${duplicates}`;
}

/** Two worlds get the same key exactly when nothing can tell them apart: their parts are interned. */
export class Keys {
  readonly #ids: Map<string, string> = new Map();

  of(world: World): string {
    const { now, store, storeBefore, pending, leader, deposed, clients, requests, answers, budget } = world;
    const numbers = String.fromCharCode(
      now,
      store,
      storeBefore,
      deposed === undefined ? 0 : 1 + deposed.store,
      ...pending.map(({ command, term }) => command * 8 + term),
    );
    const old = deposed === undefined ? "\0\0" : this.#id(leaderText(deposed.leader));
    const people = this.#id(clientText(clients[0])) + this.#id(clientText(clients[1]));
    const flights = this.#id(flightsText(requests)) + this.#id(flightsText(answers));
    return this.#id(leaderText(leader)) + people + flights + this.#id(budgetText(budget)) + old + numbers;
  }

  /** Two characters. */
  #id(text: string): string {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    const id = String.fromCharCode(this.#ids.size & 0xffff, this.#ids.size >>> 16);
    this.#ids.set(text, id);
    return id;
  }
}
