/**
 * Which node gets a request: writes go to the leader, reads to the home node, any that answers.
 *
 * The leader is who says so itself, in the newest term heard of; hints only decide who is asked first. One search
 * serves all calls that wait (finder.ts), so a failover does not multiply with the calls under way.
 */
import { type Clock, ConnectionRefusedError, type Logger, QuorateError, type Random } from "@quorate/raft";
import { askInTurn } from "./askInTurn.ts";
import { type BackoffOptions, backoffMs, shuffle } from "./backoff.ts";
import { type Connection, type ConnectionLimits, type ConnectionPorts, dialNode } from "./connection.ts";
import { EndpointBook } from "./endpointBook.ts";
import { Finder, type Found } from "./finder.ts";
import { Patience } from "./patience.ts";
import type { ReportedStatus } from "./protocol/index.ts";
import { RecentBoot } from "./recentBoot.ts";
import { Standbys, standbyEndpoints } from "./standbys.ts";
import { saidIn } from "./statusWords.ts";
import { leads, nearest } from "./successor.ts";

export interface RouterPorts extends ConnectionPorts {
  readonly random: Random;
  readonly logger: Logger;
}

export interface RouterOptions {
  readonly endpoints: readonly string[];
  /** The node that reads go to as long as it answers. */
  readonly preferred: string | undefined;
  readonly limits: ConnectionLimits;
}

export type Target = "leader" | "home";

export type StatusAnswer =
  | { readonly kind: "answered"; readonly connection: Connection; readonly status: ReportedStatus }
  | { readonly kind: "failed"; readonly endpoint: string; readonly reason: string };

type LeaderAnswer = Extract<StatusAnswer, { kind: "answered" }>;

/** An endpoint that takes longer is slow, and another one is asked beside it. */
const staggerMs = 50;
/** A round does not wait longer for slow nodes while others may have found a leader meanwhile. */
const roundMs = 200;
/** Between rounds of questions about a leader whose answers are late. */
const doubtPauses: BackoffOptions = { firstMs: 25, factor: 1.5, capMs: 250 };
/** How long reads stay away from the preferred node after it could not serve one. */
const detourMs = 2_000;
/** How long a node that could not serve is asked after the others: removed ones stand as if nothing were the matter. */
const blameMs = 60_000;
/** Refusals of a moment; all others stand until somebody changes a configuration. */
const passingRefusals: ReadonlySet<string> = new Set(["BUSY", "CLOSING", "STARTING"]);

export class Router {
  readonly book: EndpointBook;
  readonly recentBoot: RecentBoot;
  readonly #ports: RouterPorts;
  readonly #options: RouterOptions;
  readonly #open: Map<string, Connection> = new Map();
  readonly #dialing: Map<string, Promise<Connection>> = new Map();
  readonly #asking: Map<string, Promise<StatusAnswer>> = new Map();
  readonly #dials = new AbortController();
  readonly #leaderFinder: Finder;
  readonly #homeFinder: Finder;
  readonly #standbys: Standbys;
  #leader: Connection | undefined;
  #home: Connection | undefined;
  #hint: string | undefined;
  #avoided: string | undefined;
  /** When each endpoint last could not serve as home. */
  readonly #blamedMs: Map<string, number> = new Map();
  #detourUntilMs = 0;
  #newestTerm = 0;
  /** The term whose leader was lost when another node was last taken for its successor. */
  #presumedAfter = 0;
  #isDoubting = false;
  #endDoubtPause: () => void = () => {};

  constructor(ports: RouterPorts, options: RouterOptions) {
    this.#ports = ports;
    this.#options = options;
    this.book = new EndpointBook(options.endpoints);
    this.recentBoot = new RecentBoot(ports.clock);
    this.#leaderFinder = new Finder(ports.clock, ports.random, () => this.#searchLeader());
    this.#homeFinder = new Finder(ports.clock, ports.random, () => this.#searchHome());
    this.#standbys = new Standbys(ports, (endpoints) => this.#openAll(endpoints));
  }

  get clock(): Clock {
    return this.#ports.clock;
  }

  get random(): Random {
    return this.#ports.random;
  }

  get connections(): number {
    return this.#open.size;
  }

  /** Undefined where none is known. */
  get leaderEndpoint(): string | undefined {
    return this.#leader?.closedBecause === undefined ? this.#leader?.endpoint : undefined;
  }

  /** A connection to send to, or undefined where the patience ended first. Rejects where all endpoints refuse us. */
  pick(target: Target, patience: Patience): Promise<Connection | undefined> {
    if (patience.ended !== undefined) return Promise.resolve(undefined);
    const known = target === "leader" ? this.#leader : this.#home;
    const isUsable = known !== undefined && known.closedBecause === undefined;
    if (isUsable && !(target === "home" && this.#isDetourOver(known))) return Promise.resolve(known);
    return (target === "leader" ? this.#leaderFinder : this.#homeFinder).find(patience);
  }

  #isDetourOver(home: Connection): boolean {
    const { preferred } = this.#options;
    return (
      preferred !== undefined && home.endpoint !== preferred && this.clock.nowMs() >= this.#detourUntilMs
    );
  }

  /** `connection` could not serve a request for `target`; the next pick looks elsewhere, first at `hint`. */
  blame(target: Target, connection: Connection, reason: string, hint: string = ""): void {
    this.book.note(connection.endpoint, reason);
    if (target === "home") {
      if (this.#home === connection) this.#home = undefined;
      this.#avoided = connection.endpoint;
      this.#blamedMs.set(connection.endpoint, this.clock.nowMs());
      return;
    }
    if (hint !== "" && hint !== connection.endpoint) this.#hint = hint;
    if (this.#leader !== connection) return;
    this.#leader = undefined;
    const hinted = this.#hint === undefined ? undefined : this.#open.get(this.#hint);
    if (hinted !== undefined) this.#presume(hinted);
  }

  /**
   * It leads, or is about to: a node that stands for election keeps writes until that is decided. To ask it first would
   * cost the time in which it could have them.
   */
  #presume(connection: Connection): Connection {
    this.#leader = connection;
    this.#hint = undefined;
    void this.#confirm(connection);
    return connection;
  }

  async #confirm(connection: Connection): Promise<void> {
    const answer = await this.askStatus(connection.endpoint);
    if (answer.kind !== "answered" || connection !== this.#leader || connection !== answer.connection) return;
    if (leads(answer.status) && answer.status.term >= this.#newestTerm) this.#follow(answer);
  }

  /** Asks one node for its status; asked already, it is not asked twice. Never rejects. */
  askStatus(endpoint: string): Promise<StatusAnswer> {
    const asking = this.#asking.get(endpoint);
    if (asking !== undefined) return asking;
    const answer = this.#ask(endpoint).finally(() => this.#asking.delete(endpoint));
    this.#asking.set(endpoint, answer);
    return answer;
  }

  /** Closes what is neither leader nor home nor a standby and has nothing to do. */
  trim(): void {
    const kept = standbyEndpoints(this.book);
    for (const connection of this.#open.values()) {
      const isInUse =
        connection === this.#leader || connection === this.#home || kept.includes(connection.endpoint);
      if (!isInUse && connection.requestsUnderWay === 0) connection.close("the client does not need it now");
    }
  }

  close(): void {
    this.#dials.abort();
    this.#standbys.stop();
    this.#endDoubtPause();
    for (const connection of [...this.#open.values()]) connection.close("the client closed");
  }

  async #ask(endpoint: string): Promise<StatusAnswer> {
    const patience = new Patience(this.clock, { timeoutMs: this.#options.limits.silenceMs });
    try {
      const connection = await this.#connect(endpoint);
      const attempt = await connection.request({ kind: "status" }, patience);
      if (attempt.kind !== "answered") return this.#failed(endpoint, attempt.reason);
      if (attempt.body.kind !== "status") return this.#failed(endpoint, "it does not tell its status");
      const { status } = attempt.body;
      if (status.term >= this.#newestTerm) this.book.learn(status.members);
      this.book.note(endpoint, saidIn(status));
      return { kind: "answered", connection, status };
    } catch (error) {
      return this.#failed(endpoint, messageOf(error));
    } finally {
      patience.dispose();
    }
  }

  #failed(endpoint: string, reason: string): StatusAnswer {
    return { kind: "failed", endpoint, reason };
  }

  async #searchLeader(): Promise<Found> {
    const leaders: LeaderAnswer[] = [];
    const others: LeaderAnswer[] = [];
    const answer = await this.#askForLeader(this.#candidates([this.#hint]), (given) => {
      const isLeader = leads(given.status);
      (isLeader ? leaders : others).push(given);
      return isLeader && given.status.term >= this.#newestTerm;
    });
    this.#hint = undefined;
    // A term heard of once may be gone with its cluster's data: then the newest of those that answer counts.
    const found = answer ?? leaders.sort((a, b) => b.status.term - a.status.term)[0];
    if (found !== undefined && found.connection.closedBecause === undefined) return this.#follow(found);
    return this.#successor(others) ?? this.#hopeless();
  }

  /** Once for each leader that was lost: if it does not win, the search goes on as before. */
  #successor(others: readonly LeaderAnswer[]): Connection | undefined {
    if (this.#presumedAfter >= this.#newestTerm) return undefined;
    const candidate = nearest(others.filter(({ connection }) => connection.closedBecause === undefined));
    if (candidate === undefined) return undefined;
    this.#presumedAfter = this.#newestTerm;
    return this.#presume(candidate.connection);
  }

  /** The first node of `candidates`, or of those that they name, that `isGood` by what it says of itself. */
  async #askForLeader(
    candidates: readonly string[],
    isGood: (given: LeaderAnswer) => boolean,
  ): Promise<LeaderAnswer | undefined> {
    const answer = await askInTurn<StatusAnswer>({
      clock: this.clock,
      candidates,
      together: this.#connectedAtFront(candidates),
      staggerMs,
      limitMs: roundMs,
      ask: (endpoint) => this.askStatus(endpoint),
      isGood: (given) => given.kind === "answered" && isGood(given),
      hintOf: (given) => (given.kind === "failed" ? undefined : this.book.endpointOf(given.status.leader)),
    });
    return answer?.kind === "answered" ? answer : undefined;
  }

  #follow({ connection, status }: LeaderAnswer): Connection {
    this.#newestTerm = status.term;
    this.#leader = connection;
    this.#standbys.keep(standbyEndpoints(this.book));
    this.trim();
    return connection;
  }

  /**
   * Answers of the leader are late. It may be slow; or it stands still, its connection stands too, and the others have
   * another leader already. They are asked until it speaks again or one of them leads in a newer term.
   */
  async #doubtLeader(): Promise<void> {
    if (this.#isDoubting) return;
    this.#isDoubting = true;
    for (let tries = 0; this.#leader?.isLate === true; tries += 1) {
      const suspect = this.#leader;
      const others = this.#candidates([]).filter((endpoint) => endpoint !== suspect.endpoint);
      const found = await this.#askForLeader(
        others,
        ({ connection, status }) => connection !== suspect && leads(status) && status.term > this.#newestTerm,
      );
      if (!suspect.isLate || suspect !== this.#leader) continue;
      if (found !== undefined && found.connection.closedBecause === undefined) {
        const { endpoint } = this.#follow(found);
        const { term } = found.status;
        suspect.close(`${suspect.endpoint} was silent, and ${endpoint} leads in the newer term ${term}`);
      } else await this.#pauseDoubt(backoffMs(this.random, doubtPauses, tries));
    }
    this.#isDoubting = false;
  }

  #pauseDoubt(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.clock.after(delayMs, resolve);
      this.#endDoubtPause = () => {
        cancel();
        resolve();
      };
    });
  }

  async #searchHome(): Promise<Found> {
    const avoided = this.#avoided;
    this.#avoided = undefined;
    const first = [this.#options.preferred, this.#leader?.endpoint].filter(
      (endpoint) => endpoint !== avoided,
    );
    const nowMs = this.clock.nowMs();
    // Whoever was blamed goes to the end of the line, so that all have their turn, connected or not.
    const placeOf = (endpoint: string): number => {
      if (first.includes(endpoint)) return -1;
      const blamedMs = this.#blamedMs.get(endpoint) ?? Number.NEGATIVE_INFINITY;
      return nowMs - blamedMs < blameMs ? blamedMs : 0;
    };
    const candidates = this.#candidates(first);
    const connection = await askInTurn<Connection | undefined>({
      clock: this.clock,
      candidates: candidates.sort((a, b) => placeOf(a) - placeOf(b)),
      staggerMs,
      limitMs: roundMs,
      ask: (endpoint) => this.#connect(endpoint).catch(() => undefined),
      isGood: (given) => given !== undefined && given.closedBecause === undefined,
    });
    if (connection === undefined) return this.#hopeless();
    this.#home = connection;
    this.#detourUntilMs = this.clock.nowMs() + detourMs;
    this.trim();
    return connection;
  }

  /** Those in `first`, then those that a connection stands to, then the others, each group in random order. */
  #candidates(first: readonly (string | undefined)[]): string[] {
    const named = first.filter((endpoint) => endpoint !== undefined);
    const known = shuffle(this.random, [...this.book.all]);
    const open = known.filter((endpoint) => this.#open.has(endpoint));
    return [...new Set([...named, ...open, ...known])];
  }

  /**
   * To ask where a connection stands costs next to nothing, so those are asked at the same time, for one of them may
   * lead by now. A hint is nearly always right: it is asked alone.
   */
  #connectedAtFront(candidates: readonly string[]): number {
    if (candidates[0] === this.#hint) return 1;
    const first = candidates.findIndex((endpoint) => !this.#open.has(endpoint));
    return first < 0 ? candidates.length : Math.max(1, first);
  }

  #hopeless(): QuorateError | undefined {
    if (!this.book.isHopeless) return undefined;
    return new QuorateError("REFUSED", `Every node refused this client: ${this.book.report()}.`);
  }

  #connect(endpoint: string): Promise<Connection> {
    const open = this.#open.get(endpoint);
    if (open !== undefined) return Promise.resolve(open);
    const dialing = this.#dialing.get(endpoint);
    if (dialing !== undefined) return dialing;
    const dial = this.#dial(endpoint).finally(() => this.#dialing.delete(endpoint));
    this.#dialing.set(endpoint, dial);
    return dial;
  }

  /** True where a connection stands to each of them afterwards. Never rejects. */
  async #openAll(endpoints: readonly string[]): Promise<boolean> {
    const dials = await Promise.allSettled(endpoints.map((endpoint) => this.#connect(endpoint)));
    return dials.every(({ status }) => status === "fulfilled");
  }

  async #dial(endpoint: string): Promise<Connection> {
    const { signal } = this.#dials;
    try {
      const connection = await dialNode(this.#ports, endpoint, this.#options.limits, signal);
      if (signal.aborted) connection.close("the client closed");
      this.#adopt(connection);
      return connection;
    } catch (error) {
      const isRefusal = error instanceof ConnectionRefusedError && !passingRefusals.has(error.refusal.code);
      const reason = error instanceof ConnectionRefusedError ? error.refusal.reason : messageOf(error);
      if (!signal.aborted) this.book.note(endpoint, reason, isRefusal);
      throw error;
    }
  }

  #adopt(connection: Connection): void {
    const { endpoint } = connection;
    this.#open.set(endpoint, connection);
    this.book.note(endpoint, "connected");
    connection.onLate(() => {
      if (connection === this.#leader) void this.#doubtLeader();
    });
    connection.onClosed(() => {
      this.#open.delete(endpoint);
      this.#standbys.lost();
      this.book.note(endpoint, connection.closedBecause ?? "closed");
      this.#ports.logger.debug(
        { endpoint, reason: connection.closedBecause },
        "A connection to a node ended.",
      );
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
