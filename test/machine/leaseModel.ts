/**
 * Leases as simply as they can be said: a list of acquires in the order of their arrival, gone through from the start
 * whenever somebody could be granted. Slow, and with nothing in common with the machine but the commands.
 */
import { type Command, type CommandResult, type Proposal, sessionWindow } from "@quorate/client/protocol";
import type { AppliedEntry } from "@quorate/kv/machine";

interface Bid {
  readonly session: number;
  readonly sequence: number;
  readonly names: readonly string[];
  readonly priority: number;
  readonly preference: number;
  readonly at: number;
  readonly lockDelayMs: number;
  term: number;
  claimed: boolean;
  ending: "" | "revoked" | "preempted";
  breaking: boolean;
  handover: boolean;
}

type Acquire = Extract<Command, { kind: "acquireLease" }>;

interface ModelSession {
  readonly ttlMs: number;
  readonly answers: Map<number, CommandResult>;
  ackedBelow: number;
  renewals: number;
  silentMs: number;
}

function byRank(a: Pick<Bid, "preference" | "priority">, b: Pick<Bid, "preference" | "priority">): number {
  return b.preference - a.preference || b.priority - a.priority;
}

export class LeaseModel {
  revision = 0;
  bids: Bid[] = [];
  readonly delayed: Map<string, number> = new Map();
  readonly lastTerms: Map<string, number> = new Map();
  /** By name: session, term, end and revision of grants that are over. */
  readonly past: Map<string, readonly (readonly [number, number, string, number])[]> = new Map();
  readonly sessions: Map<number, ModelSession> = new Map();
  readonly attached: Map<string, number> = new Map();
  readonly keys: Map<string, number> = new Map();
  #raised = false;

  apply(entry: AppliedEntry, { origin, command }: Proposal): CommandResult {
    this.#raised = false;
    if (origin.kind === "anonymous") return this.#run(entry, command);
    const session = this.sessions.get(origin.session);
    if (session === undefined) return { kind: "sessionEnded" };
    session.ackedBelow = Math.max(session.ackedBelow, origin.ackedBelow);
    if (origin.sequence < session.ackedBelow) return { kind: "alreadyAcknowledged" };
    const stored = session.answers.get(origin.sequence);
    if (stored !== undefined) return stored;
    if (origin.sequence >= session.ackedBelow + sessionWindow) return { kind: "beyondWindow" };
    const result = this.#run(entry, command, origin);
    session.answers.set(origin.sequence, result);
    return result;
  }

  holder(name: string): Bid | undefined {
    return this.bids.find((bid) => bid.term > 0 && bid.names.includes(name));
  }

  waiting(name: string): readonly Bid[] {
    return this.bids
      .filter((bid) => bid.term === 0 && bid.names.includes(name))
      .sort((a, b) => byRank(a, b) || a.at - b.at);
  }

  #run(entry: AppliedEntry, command: Command, sender?: { session: number; sequence: number }): CommandResult {
    const result = this.#decide(entry, command, sender);
    this.#settle(entry.index);
    if (command.kind !== "acquireLease" || result.kind !== "nothing") return result;
    const bid = this.bids.find(({ at }) => at === entry.index) as Bid;
    if (bid.term > 0) return { kind: "leaseGranted", term: bid.term };
    if (command.asksHandover) {
      for (const name of bid.names) {
        const holder = this.holder(name);
        if (holder !== undefined && byRank(bid, holder) < 0) holder.handover = true;
      }
    }
    const ahead = bid.names.map(
      (name) => this.waiting(name).indexOf(bid) + (this.holder(name) === undefined ? 0 : 1),
    );
    return { kind: "leaseQueued", ahead: Math.max(...ahead) };
  }

  #decide(
    entry: AppliedEntry,
    command: Command,
    sender?: { session: number; sequence: number },
  ): CommandResult {
    switch (command.kind) {
      case "openSession":
        this.sessions.set(entry.index, {
          ttlMs: command.ttlMs,
          answers: new Map(),
          ackedBelow: 1,
          renewals: 0,
          silentMs: 0,
        });
        return { kind: "sessionOpened", session: entry.index };
      case "closeSession": {
        const isOwn = sender?.session === command.session;
        const has = this.bids.some(({ session }) => session === command.session);
        if (!isOwn && has) return { kind: "refused", reason: "" };
        return { kind: "sessionClosed", existed: this.#end([command.session], "closed") };
      }
      case "expireSessions":
        if (command.office === entry.term) {
          const silent = command.sessions.filter(({ session, renewals }) =>
            this.#isSilent(session, renewals),
          );
          this.#end(
            silent.map(({ session }) => session),
            "expired",
          );
        }
        return { kind: "nothing" };
      case "markSilence":
        for (const { session, renewals } of command.office === entry.term ? command.sessions : []) {
          const found = this.sessions.get(session);
          if (found === undefined || !this.#isSilent(session, renewals)) continue;
          found.silentMs = Math.min(found.ttlMs, found.silentMs + Math.floor(found.ttlMs * 0.4));
        }
        return { kind: "nothing" };
      case "renewSessions":
        for (const session of command.sessions) {
          const found = this.sessions.get(session);
          if (found === undefined) continue;
          found.renewals += 1;
          found.silentMs = 0;
        }
        return { kind: "nothing" };
      case "raiseVersion":
        return { kind: "nothing" };
      case "put":
        return this.#put(command, sender);
      default:
        return this.#lease(entry, command, sender);
    }
  }

  #put(command: Extract<Command, { kind: "put" }>, sender?: { session: number }): CommandResult {
    if (command.fence !== undefined) {
      const holder = this.holder(command.fence.name);
      if (holder?.term !== command.fence.term || !holder.claimed) {
        return { kind: "staleFence", term: holder?.term ?? 0 };
      }
    }
    this.#raise();
    this.keys.set(command.key, this.revision);
    this.attached.delete(command.key);
    if (command.attached === true && sender !== undefined) this.attached.set(command.key, sender.session);
    return { kind: "put", revision: this.revision };
  }

  #lease(
    entry: AppliedEntry,
    command: Command,
    sender?: { session: number; sequence: number },
  ): CommandResult {
    switch (command.kind) {
      case "acquireLease": {
        const busy = command.names.findIndex(
          (name) =>
            this.holder(name) !== undefined || this.waiting(name).length > 0 || this.delayed.has(name),
        );
        if (!command.wait && busy >= 0) {
          const holder = this.holder(command.names[busy] as string);
          return { kind: "leaseUnavailable", at: busy, term: holder?.term ?? 0, holder: holder ? "me" : "" };
        }
        this.#bid(entry.index, command, sender);
        if (command.preempts) this.#preempt();
        return { kind: "nothing" };
      }
      case "cancelAcquire": {
        const session = this.sessions.get(sender?.session ?? 0) as ModelSession;
        if (command.sequence >= session.ackedBelow + sessionWindow) return { kind: "beyondWindow" };
        if (command.sequence >= session.ackedBelow && !session.answers.has(command.sequence)) {
          session.answers.set(command.sequence, { kind: "acquireCancelled" });
        }
        this.#remove(
          (bid) => bid.session === sender?.session && bid.sequence === command.sequence,
          "cancelled",
        );
        return { kind: "acquireCancelled" };
      }
      case "claimLease":
      case "releaseLease":
      case "loseLease":
      case "describeLease": {
        const holder = this.holder(command.lease.name);
        if (holder?.term !== command.lease.term || holder.session !== sender?.session) {
          return { kind: "leaseNotHeld", term: holder?.term ?? 0 };
        }
        if (command.kind === "claimLease") holder.claimed = true;
        if (command.kind === "releaseLease") this.#remove((bid) => bid === holder, "released");
        if (command.kind === "loseLease") this.#remove((bid) => bid === holder, holder.ending || "lost");
        return { kind: "leaseDone", term: command.lease.term };
      }
      case "breakLease":
        return this.#break(command);
      case "requestHandover": {
        const holder = this.holder(command.name);
        if (holder === undefined) return { kind: "leaseNotHeld", term: 0 };
        holder.handover = true;
        return { kind: "leaseDone", term: holder.term };
      }
      case "leasesDue":
        if (command.office !== entry.term) return { kind: "nothing" };
        for (const { what, name, term } of command.due) this.#due(what, name, term);
        return { kind: "nothing" };
      default:
        throw new Error(`not drawn: ${command.kind}`);
    }
  }

  #bid(at: number, command: Acquire, sender?: { session: number; sequence: number }): void {
    this.bids.push({
      session: sender?.session ?? 0,
      sequence: sender?.sequence ?? 0,
      names: command.names,
      priority: command.priority,
      preference: command.candidate?.preference ?? 0,
      at,
      lockDelayMs: command.lockDelayMs,
      term: 0,
      claimed: false,
      ending: "",
      breaking: false,
      handover: false,
    });
  }

  /** For the last bid. */
  #preempt(): void {
    const bid = this.bids.at(-1) as Bid;
    const holders = bid.names.map((name) => this.holder(name)).filter((holder) => holder !== undefined);
    if (holders.some((holder) => byRank(bid, holder) >= 0)) return;
    for (const holder of holders.filter(({ ending }) => ending === "")) {
      holder.ending = "preempted";
      holder.handover = true;
    }
    this.#remove((one) => holders.includes(one) && !one.claimed, "unclaimed");
  }

  #break({ name, afterMs, force }: Extract<Command, { kind: "breakLease" }>): CommandResult {
    const holder = this.holder(name);
    if (holder === undefined) {
      if (!this.delayed.delete(name)) return { kind: "leaseNotHeld", term: 0 };
      return { kind: "leaseDone", term: this.lastTerms.get(name) as number };
    }
    if (force || !holder.claimed) {
      this.#remove((bid) => bid === holder, "forced");
      const isIdle = !this.bids.some(({ session }) => session === holder.session);
      if (force && isIdle && this.sessions.get(holder.session)?.ttlMs === Number.POSITIVE_INFINITY) {
        this.#end([holder.session], "forced");
      }
    } else if (holder.ending !== "") return { kind: "leaseDone", term: holder.term };
    else if (afterMs === 0) holder.ending = "revoked";
    else {
      holder.breaking = true;
      holder.handover = true;
    }
    return { kind: "leaseDone", term: holder.term };
  }

  #isSilent(session: number, renewals: number): boolean {
    const found = this.sessions.get(session);
    return found?.renewals === renewals && found.ttlMs !== Number.POSITIVE_INFINITY;
  }

  #due(what: string, name: string, term: number): void {
    const holder = this.holder(name);
    if (what === "endDelay") {
      if (this.lastTerms.get(name) === term) this.delayed.delete(name);
      return;
    }
    if (holder?.term !== term) return;
    if (what === "passOn" && !holder.claimed) this.#remove((bid) => bid === holder, "unclaimed");
    if (what === "revoke" && holder.breaking && holder.ending === "") holder.ending = "revoked";
    if (what === "finish" && holder.ending !== "") this.#remove((bid) => bid === holder, holder.ending);
  }

  #end(ids: readonly number[], end: string): boolean {
    let existed = false;
    for (const id of ids) {
      existed = this.sessions.delete(id) || existed;
      for (const [key, session] of [...this.attached]) {
        if (session !== id) continue;
        this.attached.delete(key);
        this.keys.delete(key);
        this.#raise();
      }
    }
    this.#remove((bid) => ids.includes(bid.session), end);
    return existed;
  }

  #remove(isGone: (bid: Bid) => boolean, end: string): void {
    const unclean = ["expired", "revoked", "preempted", "lost"].includes(end);
    for (const bid of this.bids.filter(isGone)) {
      for (const name of bid.term === 0 ? [] : bid.names) {
        const past = this.past.get(name) ?? [];
        this.past.set(name, [...past, [bid.session, bid.term, end, this.revision]]);
      }
      if (!unclean || bid.term === 0 || bid.lockDelayMs === 0) continue;
      for (const name of bid.names) this.delayed.set(name, bid.lockDelayMs);
    }
    this.bids = this.bids.filter((bid) => !isGone(bid));
  }

  #settle(index: number): void {
    const waiting = this.bids.filter(({ term }) => term === 0).sort((a, b) => byRank(a, b) || a.at - b.at);
    for (const bid of waiting) {
      const isItsTurn = bid.names.every(
        (name) => this.holder(name) === undefined && !this.delayed.has(name) && this.waiting(name)[0] === bid,
      );
      if (!isItsTurn) continue;
      this.#raise();
      bid.term = this.revision;
      bid.claimed = bid.at === index;
      for (const name of bid.names) this.lastTerms.set(name, bid.term);
    }
  }

  #raise(): void {
    if (!this.#raised) this.revision += 1;
    this.#raised = true;
  }
}
