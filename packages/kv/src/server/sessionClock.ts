/**
 * Ends the sessions of clients that have fallen silent. Runs on the leader alone, and forgets everything with its
 * office: a new leader gives every session a whole TTL from when it took office.
 *
 *     keep-alive arrives ─► quorum confirmed ─► alive, and no expiry under way? ─► heard at its arrival
 *     silent for its TTL ─► quorum confirmed, a heartbeat passed, all that arrived read ─► expiry proposed
 *
 * Only keep-alives and the opening count as life: a client's commands may be copies that the network kept.
 * From the turn in which an expiry is proposed, no keep-alive of that session is confirmed until the expiry has
 * certainly failed. What is proposed names this office's term, so it ends nobody in a later one.
 */
import { type CommandResult, encodeProposal } from "@quorate/client/protocol";
import {
  type Cancel,
  type Clock,
  type Logger,
  type NodeEvent,
  QuorateError,
  type RaftNode,
  type ReadPoint,
} from "@quorate/raft";

export interface SessionClockPorts {
  readonly node: RaftNode<CommandResult>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The living sessions and their TTLs, as applied now. */
  readonly sessions: () => ReadonlyMap<number, number>;
  readonly ttlMs: (session: number) => number | undefined;
  /** How many sessions live. */
  readonly count: () => number;
}

export interface SessionClockOptions {
  readonly heartbeatMs: number;
  /** A pause of this process longer than this may have cost it its office. */
  readonly electionTimeoutMinMs: number;
  readonly maxExpiriesPerTurn: number;
  readonly maxExpiriesUnderWay: number;
}

/** What a keep-alive is answered; `notNow` has to be asked again, here or at another leader. */
export type Verdict = "alive" | "ended" | "notLeader" | "notNow";

interface Office {
  readonly term: number;
  /** When the office was confirmed and its no-op applied; undefined until then. */
  sinceMs: number | undefined;
  /** When each session was last heard, in this office. */
  readonly heardMs: Map<number, number>;
  readonly expiring: Set<number>;
  /** Keep-alives that have arrived and are not confirmed yet, by session. */
  readonly arrived: Map<number, number>;
  cancelTimer: Cancel | undefined;
  /** When the timer is due, in `bootMs`. */
  dueMs: number;
  isSweeping: boolean;
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

  stop(): void {
    this.#stopObserving();
    this.#leaveOffice();
  }

  /** An entry has opened a session. */
  opened(session: number): void {
    const office = this.#office;
    const ttlMs = this.#ports.ttlMs(session);
    if (office === undefined || ttlMs === undefined) return;
    const nowMs = this.#ports.clock.bootMs();
    office.heardMs.set(session, nowMs);
    // Sessions that were closed leave here when the timer is due, and at the latest when they are most of the map.
    if (office.heardMs.size > 2 * this.#ports.count() + 64) this.#forgetEnded(office);
    if (office.sinceMs !== undefined && nowMs + ttlMs < office.dueMs) this.#arm(office, nowMs + ttlMs);
  }

  /** A keep-alive has arrived; the result judges it once its quorum is confirmed, or drops it. Called once. */
  keepAlive(session: number): (point: ReadPoint | undefined) => Verdict {
    const office = this.#office;
    if (office === undefined) return () => "notLeader";
    const arrivedMs = this.#ports.clock.bootMs();
    office.arrived.set(session, (office.arrived.get(session) ?? 0) + 1);
    return (point) => {
      const others = (office.arrived.get(session) ?? 1) - 1;
      if (others === 0) office.arrived.delete(session);
      else office.arrived.set(session, others);
      return point === undefined ? "notNow" : this.#judge(office, session, arrivedMs, point);
    };
  }

  #judge(office: Office, session: number, arrivedMs: number, point: ReadPoint): Verdict {
    if (office !== this.#office || !point.asLeader || point.term !== office.term) return "notLeader";
    if (office.expiring.has(session)) return "notNow";
    if (this.#ports.ttlMs(session) === undefined) {
      office.heardMs.delete(session);
      return "ended";
    }
    office.heardMs.set(session, Math.max(arrivedMs, office.heardMs.get(session) ?? 0));
    return "alive";
  }

  #observed(event: NodeEvent): void {
    if (event.kind !== "roleChanged") return;
    if (event.role === "leader" && this.#office?.term === event.term) return;
    this.#leaveOffice();
    if (event.role === "leader") this.#takeOffice(event.term);
  }

  #takeOffice(term: number): void {
    const office: Office = {
      term,
      sinceMs: undefined,
      heardMs: new Map(),
      expiring: new Set(),
      arrived: new Map(),
      cancelTimer: undefined,
      dueMs: Number.POSITIVE_INFINITY,
      isSweeping: false,
    };
    this.#office = office;
    void this.#settleIn(office);
  }

  #leaveOffice(): void {
    this.#office?.cancelTimer?.();
    this.#office = undefined;
  }

  /** A read index of its own term: the office is real, and everything before it is applied. */
  async #settleIn(office: Office): Promise<void> {
    while (this.#office === office) {
      if (await this.#isConfirmed(office)) {
        office.sinceMs = this.#ports.clock.bootMs();
        this.#armEarliest(office);
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

  #silentSinceMs(office: Office, session: number): number {
    return Math.max(office.sinceMs ?? Number.POSITIVE_INFINITY, office.heardMs.get(session) ?? 0);
  }

  #forgetEnded(office: Office): void {
    for (const session of office.heardMs.keys()) {
      if (this.#ports.ttlMs(session) === undefined) office.heardMs.delete(session);
    }
  }

  #armEarliest(office: Office): void {
    this.#forgetEnded(office);
    const soonMs = this.#ports.clock.bootMs() + this.#options.heartbeatMs;
    let dueMs = Number.POSITIVE_INFINITY;
    for (const [session, ttlMs] of this.#ports.sessions()) {
      if (office.expiring.has(session)) continue;
      const sessionDueMs = this.#silentSinceMs(office, session) + ttlMs;
      dueMs = Math.min(dueMs, office.arrived.has(session) ? Math.max(soonMs, sessionDueMs) : sessionDueMs);
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
    let isDone = this.#due(office).length === 0;
    while (!isDone && this.#office === office) {
      // After a pause of this process its clock has jumped and its clients' keep-alives may still be on their way.
      const isConfirmed = await this.#isConfirmed(office);
      const isSteady = this.#office === office && (await this.#pass(office, this.#options.heartbeatMs));
      if (this.#office !== office) return;
      if (isConfirmed && isSteady) isDone = this.#expireSome(office);
    }
    office.isSweeping = false;
    if (this.#office === office) this.#armEarliest(office);
  }

  #due(office: Office): number[] {
    const nowMs = this.#ports.clock.bootMs();
    const due: number[] = [];
    for (const [session, ttlMs] of this.#ports.sessions()) {
      const isWaited = office.expiring.has(session) || office.arrived.has(session);
      if (!isWaited && this.#silentSinceMs(office, session) + ttlMs <= nowMs) due.push(session);
    }
    return due;
  }

  /** True where nobody is left to expire. A crowd goes in portions, so that it never keeps writes waiting. */
  #expireSome(office: Office): boolean {
    const { maxExpiriesPerTurn, maxExpiriesUnderWay } = this.#options;
    const room = Math.min(maxExpiriesPerTurn, maxExpiriesUnderWay - office.expiring.size);
    const due = this.#due(office);
    for (const session of due.slice(0, room)) this.#expire(office, session);
    return due.length <= room;
  }

  #expire(office: Office, session: number): void {
    const { node, logger } = this.#ports;
    const { term } = office;
    office.expiring.add(session);
    const proposal = encodeProposal({
      origin: { kind: "anonymous" },
      command: { kind: "expireSession", session, term },
    });
    node.propose(proposal).then(
      () => {
        office.expiring.delete(session);
        office.heardMs.delete(session);
        logger.info({ session, term }, "A session fell silent and was ended.");
      },
      (error: unknown) => {
        // Unknown means that leadership went, and this office with it: it stays marked, and is forgotten with it.
        if (!(error instanceof QuorateError) || error.outcome === "unknown") return;
        office.expiring.delete(session);
        this.#arm(office, this.#ports.clock.bootMs() + this.#options.heartbeatMs);
      },
    );
  }
}
