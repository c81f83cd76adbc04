/**
 * What a node answers to each request of a client. Every request is answered once: a refusal, an error and a result
 * are all answers.
 */
import {
  type Command,
  type CommandResult,
  decodeProposal,
  type LeaseRequest,
  maxSessionTtlMs,
  peekCommandKind,
  type RequestBody,
  type ResponseBody,
  unreachable,
  versionOfProposal,
  type WatchMessage,
} from "@quorate/client/protocol";
import { type Cancel, type Clock, nodeIdOf, QuorateError, type RaftNode } from "@quorate/raft";
import { graceNotice, quotaAlarm, revision } from "../machine/index.ts";
import { asQuorateError, failureOf } from "./failureOf.ts";
import type { LeaseEnds } from "./leaseEnds.ts";
import { LeaseRequests, notLeader } from "./leaseRequests.ts";
import type { LeaseWaits } from "./leaseWaits.ts";
import type { MachineHost } from "./machineHost.ts";
import type { MachineUpgrade } from "./machineUpgrade.ts";
import { answerMemberRequest } from "./memberRequests.ts";
import { readableBy } from "./olderClients.ts";
import { ReadBatch } from "./readBatch.ts";
import type { SessionClock } from "./sessionClock.ts";
import { SnapshotExports } from "./snapshotExports.ts";
import type { StateComparison } from "./stateComparison.ts";
import { statusReport } from "./statusReport.ts";
import { readStore, type StoreRead } from "./storeReads.ts";

export interface HandlerPorts {
  readonly node: RaftNode<CommandResult>;
  readonly host: MachineHost;
  readonly sessionClock: SessionClock;
  readonly waits: LeaseWaits;
  readonly comparison: StateComparison;
  readonly leaseEnds: LeaseEnds;
  readonly upgrade: MachineUpgrade;
  readonly clock: Clock;
}

export interface HandlerFacts {
  readonly pid: number;
  readonly address: string;
  readonly configuredPeers: Readonly<Record<string, string>>;
  /** Four times the maximal election timeout: a session has to outlive a change of leader. */
  readonly minSessionTtlMs: number;
}

export type Respond = (body: ResponseBody) => void;

/** What the leader's timers say. */
const leadersOnly: ReadonlySet<Command["kind"]> = new Set([
  "expireSession",
  "expireSessions",
  "markSilence",
  "renewSessions",
  "leasesDue",
  "endGrace",
  "raiseVersion",
  "compareStates",
]);

export interface Asker {
  /** The newest version of the state machine that its release knows, as its hello says. */
  readonly machine: number;
  /**
   * Why it is given no large answer now: too many wait to be read by it. Asked when the answer is made, since many are
   * made in one turn.
   */
  readonly refusal: () => QuorateError | undefined;
}

/** Answered once; watches are streams, and the connection's own. */
export type AnsweredRequest = Exclude<RequestBody, WatchMessage>;

export class RequestHandler {
  readonly #ports: HandlerPorts;
  readonly #facts: HandlerFacts;
  readonly #name: string;
  readonly #reads: ReadBatch;
  readonly #leases: LeaseRequests;
  readonly #exports: SnapshotExports;

  constructor(ports: HandlerPorts, facts: HandlerFacts) {
    this.#ports = ports;
    this.#facts = facts;
    this.#name = nodeIdOf(ports.node.member);
    this.#reads = new ReadBatch(ports.node);
    this.#exports = new SnapshotExports(ports);
    this.#leases = new LeaseRequests({
      ...ports,
      reads: this.#reads,
      failed: (error) => this.failed(error),
    });
  }

  stop(): void {
    this.#exports.stop();
  }

  get reads(): ReadBatch {
    return this.#reads;
  }

  /** What waits for a change, and may go on for `timeoutMs`, gives back how to end that. */
  handle(body: AnsweredRequest, asker: Asker, timeoutMs: number, respond: Respond): Cancel | undefined {
    switch (body.kind) {
      case "renew":
      case "renewAll":
      case "awaitSession":
      case "getLease":
      case "awaitLease":
      case "leaseHistory":
      case "listLeases":
      case "listSessions":
      case "listCandidates":
        return this.#leases.handle(body, asker, timeoutMs, (answer) =>
          respond(readableBy(asker.machine, answer)),
        );
      default:
        this.#answer(body, asker, respond);
        return undefined;
    }
  }

  #answer(body: Exclude<AnsweredRequest, LeaseRequest>, asker: Asker, respond: Respond): void {
    switch (body.kind) {
      case "execute":
        this.#execute(body.proposal, respond);
        return;
      case "get":
      case "list":
        this.#read(body, asker, respond);
        return;
      case "keepAlive":
        this.#leases.renew({ session: body.session, version: 0 }, (answer) => {
          respond(answer.kind === "sessionState" ? { kind: "keptAlive", alive: answer.alive } : answer);
        });
        return;
      case "status":
        respond({ kind: "status", status: this.#status() });
        return;
      case "transfer":
        this.#transfer(body.target, respond);
        return;
      case "listMembers":
      case "changeMembers":
      case "joinCluster":
        answerMemberRequest(this.#ports.node, body, {
          shown: asker.machine,
          required: () => this.#ports.host.machine.versions.required,
        }).then(
          (membership) => respond({ kind: "members", membership }),
          (error: unknown) => respond(this.failed(asQuorateError(error))),
        );
        return;
      case "takeSnapshot":
        this.#reads.add(
          () => this.#respondWith(() => this.#exports.take(), respond),
          (error) => respond(this.failed(error)),
        );
        return;
      case "snapshotPart":
        this.#respondWith(() => {
          const refusal = asker.refusal();
          if (refusal !== undefined) throw refusal;
          return this.#exports.part(body.snapshot, body.part);
        }, respond);
        return;
      default:
        unreachable(body);
    }
  }

  #respondWith(answer: () => ResponseBody, respond: Respond): void {
    let body: ResponseBody;
    try {
      body = answer();
    } catch (error) {
      body = this.failed(asQuorateError(error));
    }
    respond(body);
  }

  /** The answer to a request that this node does not take, or gives up. */
  failed(error: QuorateError): ResponseBody {
    const hint = error.code === "NOT_LEADER" ? this.#leaderHint() : "";
    return {
      kind: "failed",
      failure: failureOf(error, this.#name, hint === this.#facts.address ? "" : hint),
    };
  }

  /** A candidate that is about to lead keeps writes until it does. */
  #leaderHint(): string {
    const { leaderAddress, candidateAddress } = this.#ports.node.status();
    return leaderAddress ?? candidateAddress ?? "";
  }

  #execute(proposal: Uint8Array, respond: Respond): void {
    const { host, node, upgrade } = this.#ports;
    const version = versionOfProposal(proposal);
    if (version > host.store.version) {
      // A node that does not lead may be behind.
      respond(this.failed(node.status().role === "leader" ? upgrade.pending(version) : notLeader()));
      return;
    }
    const problem = this.#problemOf(proposal);
    if (problem !== undefined) {
      respond(this.failed(new QuorateError("INVALID_ARGUMENT", problem)));
      return;
    }
    node.propose(proposal).then(
      ({ result }) => respond({ kind: "executed", result }),
      (error: unknown) => respond(this.failed(asQuorateError(error))),
    );
  }

  /** What depends on this node's own options is checked here: the machine, the same everywhere, may not know them. */
  #problemOf(proposal: Uint8Array): string | undefined {
    const kind = peekCommandKind(proposal);
    if (kind !== undefined && leadersOnly.has(kind)) {
      return "Only a leader lets time run out; close the session, or release the lease, instead.";
    }
    if (kind !== "openSession") return undefined;
    const decoded = decodeProposal(proposal);
    if (decoded.kind === "malformed") return decoded.reason;
    const { command } = decoded.proposal;
    const { minSessionTtlMs } = this.#facts;
    if (command.kind !== "openSession" || command.ttlMs >= minSessionTtlMs) return undefined;
    return (
      `A session's time to live of ${command.ttlMs} ms is below ${minSessionTtlMs} ms, four times the longest ` +
      "election timeout here: it would not outlive a change of leader. " +
      `Take ${minSessionTtlMs} to ${maxSessionTtlMs} ms.`
    );
  }

  #read(body: StoreRead, asker: Asker, respond: Respond): void {
    const { host, clock } = this.#ports;
    const failed = (error: QuorateError): ResponseBody => this.failed(error);
    const now = (): void => {
      const refusal = asker.refusal();
      if (refusal === undefined) readStore(host.store, body, { clock, respond, failed });
      else respond(failed(refusal));
    };
    if (body.consistency === "local") now();
    else this.#reads.add(now, (error) => respond(this.failed(error)));
  }

  #transfer(target: string, respond: Respond): void {
    this.#ports.node.transferLeadership(target === "" ? {} : { target }).then(
      ({ leader, term }) => respond({ kind: "transferred", leader, term }),
      (error: unknown) => respond(this.failed(asQuorateError(error))),
    );
  }

  #status(): Extract<ResponseBody, { kind: "status" }>["status"] {
    const { node, host, comparison, leaseEnds, upgrade } = this.#ports;
    const notices = [quotaAlarm(host.store), graceNotice(host.store), upgrade.notice, comparison.complaint];
    const complaints = [...notices, ...leaseEnds.complaints].filter((each) => each !== undefined);
    return statusReport({
      status: node.status(),
      revision: revision(host.store),
      complaints,
      ...this.#facts,
    });
  }
}
