/**
 * What a node answers to each request of a client. Every request is answered once: a refusal, an error and a result
 * are all answers.
 */
import {
  type CommandResult,
  decodeProposal,
  maxSessionTtlMs,
  peekCommandKind,
  type RequestBody,
  type ResponseBody,
  unreachable,
} from "@quorate/client/protocol";
import { type Clock, nodeIdOf, QuorateError, type RaftNode } from "@quorate/raft";
import { getPair, listPairs, revision } from "../machine/index.ts";
import { asQuorateError, failureOf } from "./failureOf.ts";
import type { MachineHost } from "./machineHost.ts";
import { answerMemberRequest } from "./memberRequests.ts";
import { ReadBatch } from "./readBatch.ts";
import type { SessionClock, Verdict } from "./sessionClock.ts";
import { statusReport } from "./statusReport.ts";

export interface HandlerPorts {
  readonly node: RaftNode<CommandResult>;
  readonly host: MachineHost;
  readonly sessionClock: SessionClock;
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

type Read = Extract<RequestBody, { readonly kind: "get" | "list" }>;

export class RequestHandler {
  readonly #ports: HandlerPorts;
  readonly #facts: HandlerFacts;
  readonly #name: string;
  readonly #reads: ReadBatch;

  constructor(ports: HandlerPorts, facts: HandlerFacts) {
    this.#ports = ports;
    this.#facts = facts;
    this.#name = nodeIdOf(ports.node.member);
    this.#reads = new ReadBatch(ports.node, ports.clock);
  }

  handle(body: RequestBody, respond: Respond): void {
    switch (body.kind) {
      case "execute":
        this.#execute(body.proposal, respond);
        return;
      case "get":
      case "list":
        this.#read(body, respond);
        return;
      case "keepAlive":
        this.#keepAlive(body.session, respond);
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
        answerMemberRequest(this.#ports.node, body).then(
          (membership) => respond({ kind: "members", membership }),
          (error: unknown) => respond(this.failed(asQuorateError(error))),
        );
        return;
      default:
        unreachable(body);
    }
  }

  /** The answer to a request that this node does not take, or gives up. */
  failed(error: QuorateError): ResponseBody {
    const hint = error.code === "NOT_LEADER" ? (this.#ports.node.status().leaderAddress ?? "") : "";
    return {
      kind: "failed",
      failure: failureOf(error, this.#name, hint === this.#facts.address ? "" : hint),
    };
  }

  #execute(proposal: Uint8Array, respond: Respond): void {
    const problem = this.#problemOf(proposal);
    if (problem !== undefined) {
      respond(this.failed(new QuorateError("INVALID_ARGUMENT", problem)));
      return;
    }
    this.#ports.node.propose(proposal).then(
      ({ result }) => respond({ kind: "executed", result }),
      (error: unknown) => respond(this.failed(asQuorateError(error))),
    );
  }

  /** What depends on this node's own options is checked here: the machine, the same everywhere, may not know them. */
  #problemOf(proposal: Uint8Array): string | undefined {
    const kind = peekCommandKind(proposal);
    if (kind === "expireSession") return "Only a leader ends a session by time; close the session instead.";
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

  #read(body: Read, respond: Respond): void {
    if (body.consistency === "local") {
      respond(this.#readNow(body));
      return;
    }
    this.#reads.add(
      () => respond(this.#readNow(body)),
      (error) => respond(this.failed(error)),
    );
  }

  #readNow(body: Read): ResponseBody {
    const { store } = this.#ports.host;
    if (body.kind === "get") {
      return { kind: "got", pair: getPair(store, body.key), revision: revision(store) };
    }
    const { limit, reverse, keysOnly } = body;
    const { pairs, more } = listPairs(store, body.range, { limit, reverse, keysOnly });
    return { kind: "listed", pairs, more, revision: revision(store) };
  }

  #keepAlive(session: number, respond: Respond): void {
    const { sessionClock } = this.#ports;
    if (!sessionClock.isInOffice) {
      respond(this.failed(this.#notLeader()));
      return;
    }
    const judge = sessionClock.keepAlive(session);
    this.#reads.add(
      (point) => respond(this.#kept(judge(point))),
      (error) => {
        judge(undefined);
        respond(this.failed(error));
      },
    );
  }

  #kept(verdict: Verdict): ResponseBody {
    switch (verdict) {
      case "alive":
        return { kind: "keptAlive", alive: true };
      case "ended":
        return { kind: "keptAlive", alive: false };
      case "notLeader":
        return this.failed(this.#notLeader());
      case "notNow": {
        const sentence =
          "The session was silent for too long and is being ended; ask again for how that went.";
        return this.failed(new QuorateError("OVERLOADED", sentence, { retryable: true }));
      }
      default:
        return unreachable(verdict);
    }
  }

  #notLeader(): QuorateError {
    return new QuorateError("NOT_LEADER", "It does not lead; only the leader answers this.", {
      retryable: true,
    });
  }

  #transfer(target: string, respond: Respond): void {
    this.#ports.node.transferLeadership(target === "" ? {} : { target }).then(
      ({ leader, term }) => respond({ kind: "transferred", leader, term }),
      (error: unknown) => respond(this.failed(asQuorateError(error))),
    );
  }

  #status(): Extract<ResponseBody, { kind: "status" }>["status"] {
    const { node, host } = this.#ports;
    return statusReport({ status: node.status(), revision: revision(host.store), ...this.#facts });
  }
}
