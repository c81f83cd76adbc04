/**
 * The client protocol's server on a node: takes connections, hands their requests to the handler, and gives up what
 * nobody waits for any more.
 */
import { clientRole, judgeClient, machineOf, serverHello } from "@quorate/client/internal";
import type { CommandResult } from "@quorate/client/protocol";
import {
  type Answer,
  type Cancel,
  type Clock,
  type Hello,
  type Logger,
  nodeIdOf,
  type RaftNode,
} from "@quorate/raft";
import type { Applied } from "../machine/index.ts";
import { ClientConnection } from "./clientConnection.ts";
import { LeaseClock } from "./leaseClock.ts";
import { LeaseEnds } from "./leaseEnds.ts";
import { LeaseWaits } from "./leaseWaits.ts";
import type { MachineHost } from "./machineHost.ts";
import { MachineUpgrade } from "./machineUpgrade.ts";
import { RequestHandler } from "./requestHandler.ts";
import type { ServerLimits } from "./serverLimits.ts";
import { SessionClock } from "./sessionClock.ts";
import { StateComparison } from "./stateComparison.ts";
import { WatchService } from "./watches/watchService.ts";

export interface ServerPorts {
  readonly node: RaftNode<CommandResult>;
  readonly host: MachineHost;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ServerOptions {
  readonly pid: number;
  /** Where this node says that it can be reached. */
  readonly address: string;
  readonly configuredPeers: Readonly<Record<string, string>>;
  readonly heartbeatMs: number;
  readonly electionTimeoutMinMs: number;
  readonly electionTimeoutMaxMs: number;
  readonly limits: ServerLimits;
}

export interface ClientServer {
  /** The answer to the hello of anyone who is no peer. */
  accept(hello: Hello): Answer;
  readonly sessionClock: SessionClock;
  readonly leaseEnds: LeaseEnds;
  /** Sessions that ended by their silence, of the entries that this process has applied. */
  readonly sessionsExpired: number;
  readonly connections: number;
  readonly requestsUnderWay: number;
  /** Open on all connections. */
  readonly watches: number;
  /** Resolves when what is under way is answered, or after a few turns: for a node that is about to close. */
  answered(): Promise<void>;
  /** Closes every connection, so that clients ask other nodes at once. Idempotent. */
  close(reason: string): void;
}

/** Deadlines are looked at this often, and only while requests are under way. */
const deadlineStepMs = 100;
/** A waiter may have to find the new leader first. */
function claimWindowMs({ electionTimeoutMaxMs }: ServerOptions): number {
  return Math.max(1_000, 4 * electionTimeoutMaxMs);
}
/** Of the event loop. What takes longer than these, a client asks again of another node. */
const maxFarewellTurns = 20;

export function createClientServer(ports: ServerPorts, options: ServerOptions): ClientServer {
  return new Server(ports, options);
}

class Server implements ClientServer {
  readonly sessionClock: SessionClock;
  readonly leaseEnds: LeaseEnds;
  sessionsExpired = 0;
  readonly #ports: ServerPorts;
  readonly #options: ServerOptions;
  readonly #handler: RequestHandler;
  readonly #waits: LeaseWaits;
  readonly #leaseClock: LeaseClock;
  readonly #upgrade: MachineUpgrade;
  readonly #watches: WatchService;
  readonly #connections: Set<ClientConnection> = new Set();
  readonly #total = { count: 0 };
  #cancelDeadlines: Cancel | undefined;
  #isClosed = false;

  constructor(ports: ServerPorts, options: ServerOptions) {
    const { node, host, clock, logger } = ports;
    this.#ports = ports;
    this.#options = options;
    this.#waits = new LeaseWaits(clock, () => node.status().leader !== undefined);
    this.leaseEnds = new LeaseEnds(clock, logger);
    this.#upgrade = new MachineUpgrade({ node, host, clock, logger });
    this.#leaseClock = new LeaseClock(
      {
        node,
        clock,
        logger,
        store: host.store,
        heardMs: (session) => this.sessionClock.heardMs(session),
      },
      { claimWindowMs: claimWindowMs(options), retryMs: options.electionTimeoutMaxMs },
    );
    this.sessionClock = new SessionClock(
      {
        node,
        clock,
        logger,
        store: host.store,
        onOffice: (term) => this.#officeBegun(term),
        onOfficeLost: () => this.#officeLost(),
      },
      { ...options, ...options.limits },
    );
    host.onLeasesChanged = (applied) => this.#leasesChanged(applied);
    host.onSessionOpened = (session) => this.sessionClock.opened(session);
    const comparison = new StateComparison({ node, logger, defer: (fn) => clock.defer(fn) });
    const minSessionTtlMs = 4 * options.electionTimeoutMaxMs;
    this.#handler = new RequestHandler(
      {
        node,
        host,
        clock,
        sessionClock: this.sessionClock,
        waits: this.#waits,
        comparison,
        leaseEnds: this.leaseEnds,
        upgrade: this.#upgrade,
      },
      { ...options, minSessionTtlMs },
    );
    this.#watches = new WatchService({
      node,
      clock,
      store: () => host.store,
      reads: this.#handler.reads,
      limits: options.limits,
      failed: (error) => this.#handler.failed(error),
    });
    host.onApplied = (entry) => {
      this.#watches.hub.applied();
      this.#leaseClock.applied();
      comparison.applied(entry, host.store);
    };
    host.onRestored = () => {
      this.#waits.restored();
      this.#watches.hub.replaced();
    };
  }

  #officeBegun(term: number): void {
    this.#leaseClock.begin(term);
    this.#upgrade.officeBegun(term);
    this.leaseEnds.officeBegun();
  }

  #officeLost(): void {
    this.leaseEnds.officeLost();
    this.#leaseClock.end();
    this.#upgrade.officeLost();
    this.#waits.officeLost();
  }

  #leasesChanged(applied: Applied): void {
    this.#leaseClock.changed(applied.leases);
    this.leaseEnds.applied(applied.ended);
    this.sessionsExpired += applied.expired;
    this.#waits.applied(applied);
  }

  get watches(): number {
    return this.#watches.size;
  }

  get connections(): number {
    return this.#connections.size;
  }

  get requestsUnderWay(): number {
    return this.#total.count;
  }

  accept(hello: Hello): Answer {
    const { limits } = this.#options;
    if (this.#isClosed) return { kind: "refuse", code: "CLOSING", reason: "This node is closing." };
    if (hello.role !== clientRole) {
      const reason = `The hello's role is ${JSON.stringify(hello.role ?? "")}; here are clients and peers served.`;
      return { kind: "refuse", code: "ROLE", reason };
    }
    const judged = judgeClient(hello);
    if (judged.kind === "refuse") return judged;
    if (this.#connections.size >= limits.maxConnections) {
      const reason =
        `This node has ${limits.maxConnections} connections of clients, its limit. A client that lives for more than ` +
        "a second keeps one to every member: share one cluster object in each process.";
      return { kind: "refuse", code: "BUSY", reason };
    }
    return {
      kind: "accept",
      hello: serverHello(nodeIdOf(this.#ports.node.member)),
      opened: (channel) => {
        const connection = new ClientConnection(
          {
            clock: this.#ports.clock,
            handler: this.#handler,
            machine: machineOf(hello),
            watches: this.#watches,
            limits,
            total: this.#total,
            expect: () => this.#watchDeadlines(),
            closed: (closed, reason) => {
              this.#connections.delete(closed);
              this.#ports.logger.debug({ reason }, "A client's connection ended.");
            },
          },
          channel,
        );
        this.#connections.add(connection);
        if (this.#isClosed) connection.close("this node is closing");
      },
    };
  }

  async answered(): Promise<void> {
    const turn = (): Promise<void> => new Promise((resolve) => this.#ports.clock.defer(resolve));
    for (let turns = 0; this.#total.count > 0 && turns < maxFarewellTurns; turns += 1) await turn();
    await turn(); // the last answers leave at the end of a turn
  }

  close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.sessionClock.stop();
    this.#upgrade.stop();
    this.#leaseClock.end();
    this.#cancelDeadlines?.();
    for (const connection of [...this.#connections]) connection.close(reason);
    this.#waits.stop();
    this.#watches.stop();
    this.#handler.stop();
  }

  #watchDeadlines(): void {
    if (this.#cancelDeadlines !== undefined || this.#isClosed) return;
    this.#cancelDeadlines = this.#ports.clock.after(deadlineStepMs, () => {
      this.#cancelDeadlines = undefined;
      const nowMs = this.#ports.clock.nowMs();
      for (const connection of this.#connections) connection.giveUpOverdue(nowMs);
      if (this.#total.count > 0) this.#watchDeadlines();
    });
  }
}
