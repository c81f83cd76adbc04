/** What a node answers to what is asked about leases, and about the leases of a session. */
import {
  type LeaseRequest,
  maxLeasePageBytes,
  type ResponseBody,
  unreachable,
} from "@quorate/client/protocol";
import { type Cancel, type Clock, QuorateError } from "@quorate/raft";
import {
  getLease,
  leaseSetOf,
  listCandidates,
  listLeases,
  listSessions,
  pastGrantsOf,
  revision,
} from "../machine/index.ts";
import { leaderlessError } from "./leaderless.ts";
import type { LeaseWaits, WaitEnd } from "./leaseWaits.ts";
import type { MachineHost } from "./machineHost.ts";
import type { Verdict } from "./office.ts";
import type { ReadBatch } from "./readBatch.ts";
import type { Asker, Respond } from "./requestHandler.ts";
import type { SessionClock } from "./sessionClock.ts";

export interface LeaseRequestPorts {
  readonly host: MachineHost;
  readonly clock: Clock;
  readonly sessionClock: SessionClock;
  readonly reads: ReadBatch;
  readonly waits: LeaseWaits;
  readonly failed: (error: QuorateError) => ResponseBody;
}

type Renew = Extract<LeaseRequest, { kind: "renew" }>;
type RenewAll = Extract<LeaseRequest, { kind: "renewAll" }>;
type AwaitSession = Extract<LeaseRequest, { kind: "awaitSession" }>;
type Read = Exclude<LeaseRequest, { kind: "renew" | "renewAll" | "awaitSession" | "awaitLease" }>;
type AwaitLease = Extract<LeaseRequest, { kind: "awaitLease" }>;

export class LeaseRequests {
  readonly #ports: LeaseRequestPorts;

  constructor(ports: LeaseRequestPorts) {
    this.#ports = ports;
  }

  /** What waits for a change gives back how to end that; it is answered within `timeoutMs`. */
  handle(body: LeaseRequest, asker: Asker, timeoutMs: number, respond: Respond): Cancel | undefined {
    switch (body.kind) {
      case "renew":
        this.renew(body, respond);
        return undefined;
      case "renewAll":
        this.#renewAll(body, respond);
        return undefined;
      case "awaitSession":
        return this.#awaitSession(body, timeoutMs, respond);
      case "awaitLease":
        return this.#awaitLease(body, timeoutMs, respond);
      case "getLease":
      case "leaseHistory":
      case "listLeases":
      case "listSessions":
      case "listCandidates":
        this.#read(body, asker, respond);
        return undefined;
      default:
        return unreachable(body);
    }
  }

  renew({ session, version }: Pick<Renew, "session" | "version">, respond: Respond): void {
    const { sessionClock, reads, failed } = this.#ports;
    if (!sessionClock.isInOffice) {
      respond(failed(notLeader()));
      return;
    }
    let why: QuorateError | undefined;
    const judge = sessionClock.keepAlive(session, (verdict) => {
      respond(why === undefined ? this.#kept(verdict, session, version) : failed(why));
    });
    reads.add(judge, (error) => {
      why = error;
      judge(undefined);
    });
  }

  #renewAll({ sessions, versions }: RenewAll, respond: Respond): void {
    const { sessionClock, reads, failed } = this.#ports;
    if (!sessionClock.isInOffice) {
      respond(failed(notLeader()));
      return;
    }
    const judge = sessionClock.keepAlives(sessions, versions);
    reads.add(
      (point) => {
        const apart = judge(point);
        respond(apart === undefined ? failed(notLeader()) : { kind: "renewedAll", apart });
      },
      (error) => {
        judge(undefined);
        respond(failed(error));
      },
    );
  }

  #kept(verdict: Verdict, session: number, version: number): ResponseBody {
    switch (verdict) {
      case "alive":
      case "ended":
        return this.#sessionState(session, version);
      case "notLeader":
        return this.#ports.failed(notLeader());
      case "notNow": {
        const sentence = "The session was silent for long, and its renewal is not confirmed yet: ask again.";
        return this.#ports.failed(new QuorateError("OVERLOADED", sentence, { retryable: true }));
      }
      default:
        return unreachable(verdict);
    }
  }

  #sessionState(session: number, version: number): ResponseBody {
    const set = leaseSetOf(this.#ports.host.store, session);
    return {
      kind: "sessionState",
      alive: set !== undefined,
      set: set?.version === version ? undefined : set,
    };
  }

  #awaitSession({ session, version }: AwaitSession, timeoutMs: number, respond: Respond): Cancel | undefined {
    const { host, sessionClock, waits, failed } = this.#ports;
    if (!sessionClock.isInOffice) {
      respond(failed(notLeader()));
      return undefined;
    }
    const tell = (why: WaitEnd): void => {
      respond(why === "officeLost" ? failed(notLeader()) : this.#sessionState(session, version));
    };
    const known = host.store.sessions.get(session)?.version;
    if (known === version) return waits.forSession(session, timeoutMs, tell);
    tell("changed");
    return undefined;
  }

  #awaitLease({ name, changed }: AwaitLease, timeoutMs: number, respond: Respond): Cancel | undefined {
    const { host, waits, failed } = this.#ports;
    const tell = (why: WaitEnd): void => {
      if (why === "leaderless") respond(failed(leaderlessError()));
      else respond({ kind: "lease", lease: getLease(host.store, name), revision: revision(host.store) });
    };
    // A node that is behind knows an older change; whoever asks waits for a newer one.
    if (getLease(host.store, name).changed <= changed) return waits.forLease(name, timeoutMs, tell);
    tell("changed");
    return undefined;
  }

  #read(body: Read, asker: Asker, respond: Respond): void {
    const { reads, failed } = this.#ports;
    const now = (): void => {
      const refusal = asker.refusal();
      respond(refusal === undefined ? this.#readNow(body) : failed(refusal));
    };
    if (body.consistency === "local") now();
    else reads.add(now, (error) => respond(failed(error)));
  }

  #readNow(body: Read): ResponseBody {
    const { store } = this.#ports.host;
    if (body.kind === "getLease") {
      return { kind: "lease", lease: getLease(store, body.name), revision: revision(store) };
    }
    if (body.kind === "leaseHistory") {
      const [lease, past] = [getLease(store, body.name), pastGrantsOf(store, body.name)];
      return { kind: "leaseHistory", lease, past, revision: revision(store) };
    }
    if (body.kind === "listCandidates") {
      return {
        kind: "candidates",
        ...listCandidates(store, body.name, body.limit),
        revision: revision(store),
      };
    }
    if (body.kind === "listSessions") {
      return { kind: "sessions", ...listSessions(store, body.from, body.limit), revision: revision(store) };
    }
    return {
      kind: "leases",
      ...listLeases(store, body.range, body.limit, maxLeasePageBytes),
      revision: revision(store),
    };
  }
}

export function notLeader(): QuorateError {
  return new QuorateError("NOT_LEADER", "It does not lead; only the leader answers this.", {
    retryable: true,
  });
}
