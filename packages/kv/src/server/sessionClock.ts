/**
 * Ends the sessions of clients that have fallen silent. Runs on the leader alone, and forgets everything with its
 * office: a new leader gives every session a whole TTL from when it took office, less the silence that is logged.
 *
 *     keep-alive arrives ─► quorum confirmed ─► alive, and no expiry under way? ─► heard at its arrival
 *     silent for 0.4 TTL ─► its silence is logged: the next leader need not wait for that again
 *     silent for its TTL ─► quorum confirmed, a heartbeat passed, all that arrived read ─► expiry proposed
 *
 * Only keep-alives and the opening count as life: a client's commands may be copies that the network kept.
 * While a session's silence is logged, or proposed to be, its renewal is logged too, and confirmed when it is applied.
 * From the turn in which an expiry is proposed, no keep-alive of that session is confirmed until the expiry has
 * certainly failed. What is proposed names this office's term, so it ends nobody in a later one.
 */
import { type Command, type CommandResult, encodeProposal, type SessionAt } from "@quorate/client/protocol";
import {
  type Clock,
  type Logger,
  type NodeEvent,
  QuorateError,
  type RaftNode,
  type ReadPoint,
} from "@quorate/raft";
import { type SessionState, type StoreState, silenceOf } from "../machine/index.ts";
import { portionsOf, weightOf } from "./expiryPortions.ts";
import { type Due, isAnyone, type Lateness, Office, type Verdict } from "./office.ts";

export interface SessionClockPorts {
  readonly node: RaftNode<CommandResult>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As applied now. */
  readonly store: Pick<StoreState, "sessions">;
  /** This node leads, and has applied all that was committed before. */
  readonly onOffice?: (term: number) => void;
  readonly onOfficeLost?: () => void;
}

export interface SessionClockOptions {
  readonly heartbeatMs: number;
  /** A pause of this process longer than this may have cost it its office. */
  readonly electionTimeoutMinMs: number;
  /** Sessions in one entry. */
  readonly maxExpiriesAtOnce: number;
  /** Such entries that are not applied yet. */
  readonly maxExpiriesUnderWay: number;
}

export class SessionClock {
  readonly #ports: SessionClockPorts;
  readonly #options: SessionClockOptions;
  readonly #stopObserving: () => void;
  #office: Office | undefined;

  constructor(ports: SessionClockPorts, options: SessionClockOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#stopObserving = ports.node.observe((event) => this.#observed(event));
    const { role, term } = ports.node.status();
    if (role === "leader") this.#takeOffice(term);
  }

  get isInOffice(): boolean {
    return this.#office !== undefined;
  }

  /** Sessions that this clock holds anything of: 0 on a node that does not lead. */
  get tracked(): number {
    return this.#office?.heardMs.size ?? 0;
  }

  /** The session cannot have been told by this office that it is alive after this; in `bootMs`. */
  heardMs(session: number): number {
    return this.#office?.silentSinceMs(session) ?? Number.POSITIVE_INFINITY;
  }

  stop(): void {
    this.#stopObserving();
    this.#leaveOffice();
  }

  /** An entry has opened a session. */
  opened(session: number): void {
    const office = this.#office;
    const ttlMs = this.#session(session)?.ttlMs;
    if (office === undefined || ttlMs === undefined) return;
    const nowMs = this.#ports.clock.bootMs();
    office.heardMs.set(session, nowMs);
    // Sessions that were closed leave here when the timer is due, and at the latest when they are most of the map.
    if (office.heardMs.size > 2 * this.#ports.store.sessions.size + 64) this.#forgetEnded(office);
    const firstMs = nowMs + silenceOf(ttlMs);
    if (office.sinceMs !== undefined && firstMs < office.dueMs) this.#arm(office, firstMs);
  }

  /**
   * A keep-alive has arrived. The result is called once, when its quorum is confirmed, or without a point where it was
   * not; then `answer` is called once.
   */
  keepAlive(session: number, answer: (verdict: Verdict) => void): (point: ReadPoint | undefined) => void {
    const office = this.#office;
    if (office === undefined) return () => answer("notLeader");
    const arrivedMs = this.#ports.clock.bootMs();
    office.arrive(session);
    const end = (verdict: Verdict): void => {
      office.judged(session);
      answer(verdict);
    };
    return (point) => {
      if (point === undefined) end("notNow");
      else this.#judge(office, session, arrivedMs, point, end);
    };
  }

  /**
   * As `keepAlive`, of many that have arrived together. The result is called once, and gives those that are not
   * confirmed by this, or have other leases than at that version; undefined where this node does not lead.
   */
  keepAlives(
    sessions: readonly number[],
    versions: readonly number[],
  ): (point: ReadPoint | undefined) => readonly number[] | undefined {
    const office = this.#office;
    if (office === undefined) return () => undefined;
    const arrivedMs = this.#ports.clock.bootMs();
    for (const session of sessions) office.arrive(session);
    return (point) => {
      for (const session of sessions) office.judged(session);
      if (!this.#isConfirmedBy(office, point)) return undefined;
      return sessions.filter((session, at) => {
        const found = this.#session(session);
        if (found === undefined || found.version !== versions[at]) return true;
        if (!office.confirms(session, found)) return true;
        office.hear(session, arrivedMs);
        return false;
      });
    };
  }

  #isConfirmedBy(office: Office, point: ReadPoint | undefined): boolean {
    return office === this.#office && point?.asLeader === true && point.term === office.term;
  }

  #judge(
    office: Office,
    session: number,
    arrivedMs: number,
    point: ReadPoint,
    end: (verdict: Verdict) => void,
  ): void {
    const found = this.#session(session);
    if (!this.#isConfirmedBy(office, point)) end("notLeader");
    else if (office.expiring.has(session)) end("notNow");
    else if (found === undefined) {
      office.forget(session);
      end("ended");
    } else if (!office.confirms(session, found)) {
      this.#logRenewal(office, session, arrivedMs, end);
    } else {
      office.hear(session, arrivedMs);
      end("alive");
    }
  }

  /** Those of a turn in one entry. */
  #logRenewal(office: Office, session: number, arrivedMs: number, end: (verdict: Verdict) => void): void {
    const isFirst = office.renewing.length === 0;
    office.renewing.push({ session, arrivedMs, end });
    if (!isFirst) return;
    this.#ports.clock.defer(() => {
      const renewing = office.renewing.splice(0);
      const sessions = [...new Set(renewing.map((one) => one.session))];
      const portions: Promise<boolean>[] = [];
      for (let from = 0; from < sessions.length; from += this.#options.maxExpiriesAtOnce) {
        const some = sessions.slice(from, from + this.#options.maxExpiriesAtOnce);
        portions.push(this.#propose({ kind: "renewSessions", sessions: some }));
      }
      void Promise.all(portions).then((outcomes) => {
        const isLogged = outcomes.every((isApplied) => isApplied) && office === this.#office;
        for (const one of renewing) one.end(isLogged ? this.#renewed(office, one) : "notNow");
      });
    });
  }

  #renewed(office: Office, { session, arrivedMs }: { session: number; arrivedMs: number }): Verdict {
    if (this.#session(session) === undefined) return "ended";
    office.hear(session, arrivedMs);
    return "alive";
  }

  #session(session: number): SessionState | undefined {
    return this.#ports.store.sessions.get(session);
  }

  #observed(event: NodeEvent): void {
    if (event.kind !== "roleChanged") return;
    if (event.role === "leader" && this.#office?.term === event.term) return;
    this.#leaveOffice();
    if (event.role === "leader") this.#takeOffice(event.term);
  }

  #takeOffice(term: number): void {
    const office = new Office(term);
    this.#office = office;
    void this.#settleIn(office);
  }

  #leaveOffice(): void {
    if (this.#office === undefined) return;
    this.#office.cancelTimer?.();
    this.#office = undefined;
    this.#ports.onOfficeLost?.();
  }

  /** A read index of its own term: the office is real, and everything before it is applied. */
  async #settleIn(office: Office): Promise<void> {
    while (this.#office === office) {
      if (await this.#isConfirmed(office)) {
        office.begin(this.#ports.clock.bootMs(), this.#ports.store.sessions.entries());
        this.#armEarliest(office);
        this.#ports.onOffice?.(office.term);
        return;
      }
      if (this.#office === office) await this.#pass(office, this.#options.heartbeatMs);
    }
  }

  async #isConfirmed(office: Office): Promise<boolean> {
    try {
      const point = await this.#ports.node.readIndex();
      return this.#office === office && point.asLeader && point.term === office.term;
    } catch (error) {
      if (!(error instanceof QuorateError)) throw error;
      this.#ports.logger.debug(
        { term: office.term, code: error.code },
        "The leader could not confirm its office.",
      );
      return false;
    }
  }

  /** True after `delayMs`; false where it took so much longer that the process must have stood still. */
  #pass(office: Office, delayMs: number): Promise<boolean> {
    const { clock } = this.#ports;
    const startMs = clock.bootMs();
    return new Promise((resolve) => {
      const cancel = clock.after(delayMs, () => {
        office.cancelTimer = undefined;
        // The poll phase comes first: keep-alives that have arrived count before any verdict.
        clock.defer(() => resolve(clock.bootMs() - startMs - delayMs < this.#options.electionTimeoutMinMs));
      });
      office.cancelTimer = () => {
        cancel();
        resolve(false);
      };
    });
  }

  #forgetEnded(office: Office): void {
    for (const session of office.heardMs.keys()) {
      if (this.#session(session) === undefined) office.forget(session);
    }
  }

  #armEarliest(office: Office): void {
    this.#forgetEnded(office);
    const soonMs = this.#ports.clock.bootMs() + this.#options.heartbeatMs;
    let dueMs = Number.POSITIVE_INFINITY;
    for (const [session, { ttlMs }] of this.#ports.store.sessions.entries()) {
      if (office.expiring.has(session)) continue;
      const nextMs = Math.min(office.expiryMs(session, ttlMs), office.markMs(session, ttlMs));
      dueMs = Math.min(dueMs, office.isAwaited(session) ? Math.max(soonMs, nextMs) : nextMs);
    }
    this.#arm(office, dueMs);
  }

  #arm(office: Office, dueMs: number): void {
    if (office.isSweeping || this.#office !== office) return;
    office.cancelTimer?.();
    office.cancelTimer = undefined;
    office.dueMs = dueMs;
    if (dueMs === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.max(1, dueMs - this.#ports.clock.bootMs());
    office.cancelTimer = this.#ports.clock.after(delayMs, () => {
      office.cancelTimer = undefined;
      void this.#sweep(office);
    });
  }

  async #sweep(office: Office): Promise<void> {
    office.isSweeping = true;
    while (this.#office === office && isAnyone(this.#due(office))) {
      // After a pause of this process its clock has jumped and its clients' keep-alives may still be on their way.
      const isConfirmed = await this.#isConfirmed(office);
      const isSteady = this.#office === office && (await this.#pass(office, this.#options.heartbeatMs));
      if (isConfirmed && isSteady) await this.#endDue(office);
    }
    office.isSweeping = false;
    if (this.#office === office) this.#armEarliest(office);
  }

  /**
   * A crowd goes in portions, a few at a time, so that it never keeps writes waiting. All sessions are looked at once
   * for it; whoever falls due meanwhile comes next time.
   */
  async #endDue(office: Office): Promise<void> {
    const { maxExpiriesAtOnce: most, maxExpiriesUnderWay: underWay } = this.#options;
    const { expired, silent } = this.#due(office);
    const ends = portionsOf(expired, most, ({ session }) => weightOf(this.#session(session)));
    const marks = portionsOf(silent, most, () => 0);
    const portions = Array.from({ length: Math.max(ends.length, marks.length) }, (_, at): Due => {
      return { expired: ends[at] ?? [], silent: marks[at] ?? [] };
    });
    portions.reverse();
    await Promise.all(Array.from({ length: underWay }, () => this.#endPortions(office, portions)));
  }

  /**
   * One after the other, until one fails. After one that took as long as if this process had stood still, what has
   * arrived meanwhile is heard first; under overload all of them are such, and those that are left have their turn.
   */
  async #endPortions(office: Office, portions: Due[]): Promise<void> {
    const { clock } = this.#ports;
    for (let due = portions.pop(); due !== undefined; due = portions.pop()) {
      const startMs = clock.bootMs();
      const outcomes = await Promise.all([
        this.#expire(office, this.#stillDue(office, "expired", due.expired)),
        this.#mark(office, this.#stillDue(office, "silent", due.silent)),
      ]);
      await new Promise<void>((resolve) => clock.defer(resolve));
      const isSteady = clock.bootMs() - startMs < this.#options.electionTimeoutMinMs;
      const mayGoOn = this.#office === office && outcomes.every((isApplied) => isApplied);
      if (!mayGoOn || !(isSteady || (await this.#passOnce(office)))) portions.length = 0;
    }
  }

  /** Those that end portions side by side wait together. */
  #passOnce(office: Office): Promise<boolean> {
    office.passing ??= this.#pass(office, this.#options.heartbeatMs).finally(() => {
      office.passing = undefined;
    });
    return office.passing;
  }

  #due(office: Office): Due {
    return office.due(this.#ports.store.sessions.entries(), this.#ports.clock.bootMs());
  }

  /** Keep-alives may have come while the portion before was under way. */
  #stillDue(office: Office, lateness: Lateness, some: readonly SessionAt[]): SessionAt[] {
    const nowMs = this.#ports.clock.bootMs();
    return some.filter(({ session, renewals }) => {
      const state = this.#session(session);
      return state?.renewals === renewals && office.latenessOf(session, state, nowMs) === lateness;
    });
  }

  async #expire(office: Office, sessions: readonly SessionAt[]): Promise<boolean> {
    if (sessions.length === 0) return true;
    const { logger } = this.#ports;
    for (const { session } of sessions) office.expiring.add(session);
    const outcome = await this.#outcomeOf({ kind: "expireSessions", office: office.term, sessions });
    // Unknown means that leadership went, and this office with it: they stay marked, and are forgotten with it.
    if (outcome === "unknown") return false;
    for (const { session } of sessions) {
      office.expiring.delete(session);
      if (outcome !== "applied") continue;
      if (this.#session(session) === undefined) office.forget(session);
      else office.hear(session, this.#ports.clock.bootMs()); // void: a renewal came into the log before it
    }
    if (outcome === "none") return false;
    logger.info({ sessions: sessions.length, term: office.term }, "Silent sessions were ended.");
    return true;
  }

  async #mark(office: Office, sessions: readonly SessionAt[]): Promise<boolean> {
    if (sessions.length === 0) return true;
    const nowMs = this.#ports.clock.bootMs();
    for (const { session } of sessions) office.marking.add(session);
    const outcome = await this.#outcomeOf({ kind: "markSilence", office: office.term, sessions });
    if (outcome === "unknown") return false;
    for (const { session } of sessions) {
      office.marking.delete(session);
      if (outcome === "applied") office.markedMs.set(session, nowMs);
    }
    return outcome === "applied";
  }

  async #propose(command: Command): Promise<boolean> {
    return (await this.#outcomeOf(command)) === "applied";
  }

  async #outcomeOf(command: Command): Promise<"applied" | "none" | "unknown"> {
    try {
      await this.#ports.node.propose(encodeProposal({ origin: { kind: "anonymous" }, command }));
      return "applied";
    } catch (error) {
      if (!(error instanceof QuorateError)) throw error;
      return error.outcome;
    }
  }
}
