/**
 * Nodes that speak the client protocol over a memory network, with one true store behind them and no Raft: they do
 * what a test tells them, such as executing a write and keeping the answer to themselves.
 */
import {
  type ClientCluster,
  createCluster,
  readRequests,
  resolveClientOptions,
  responseFrames,
  serverHello,
} from "@quorate/client/internal";
import { decodeProposal, type Request, type RequestBody, type ResponseBody } from "@quorate/client/protocol";
import {
  applyEntry,
  createStore,
  getLease,
  getPair,
  isAlive,
  leaseSetOf,
  listCandidates,
  listLeases,
  listPairs,
  listSessions,
  pastGrantsOf,
  revision,
  type StoreState,
} from "@quorate/kv/machine";
import {
  type Answer,
  type Cancel,
  type Channel,
  type Hello,
  type Listener,
  silentLogger,
} from "@quorate/raft";
import { memoryNetwork } from "@quorate/transport/links";
import { seededRandom } from "../transport/world.ts";
import { type ManyTimers, manyTimers } from "./manyTimers.ts";

/** What a node does with a request instead of answering it: nothing, or ending the connection. */
export type Reaction = ResponseBody | "silence" | "hang up";

/** A promise is answered later. */
export type Behaviour = (request: Request, honest: () => ResponseBody) => Reaction | Promise<Reaction>;

export class FakeNode {
  readonly id: string;
  readonly endpoint: string;
  readonly asked: RequestBody[] = [];
  /** What it says that it is while it does not lead. */
  role: "follower" | "candidate" | "preCandidate" = "follower";
  behave: Behaviour = (_request, honest) => honest();
  /** Connections that were ever asked for. */
  dials = 0;
  answerHello: () => Answer | undefined = () => undefined;
  readonly #cluster: FakeCluster;
  readonly #channels = new Set<Channel>();
  #listener: Listener | undefined;

  constructor(cluster: FakeCluster, id: string, endpoint: string) {
    this.#cluster = cluster;
    this.id = id;
    this.endpoint = endpoint;
  }

  get connections(): number {
    return this.#channels.size;
  }

  async start(): Promise<void> {
    this.#listener = await this.#cluster.network.listen(this.endpoint, (hello) => this.#accept(hello));
  }

  /** As if its process were killed. */
  async stop(): Promise<void> {
    await this.#listener?.close();
    this.#listener = undefined;
    for (const channel of [...this.#channels]) channel.close("stopped");
  }

  /** The commands that it was asked to execute. */
  commands(kind?: string): number {
    return this.asked.filter((body) => {
      if (body.kind !== "execute") return false;
      const decoded = decodeProposal(body.proposal);
      return decoded.kind === "proposal" && (kind === undefined || decoded.proposal.command.kind === kind);
    }).length;
  }

  #accept(_hello: Hello): Answer {
    this.dials += 1;
    return (
      this.answerHello() ?? {
        kind: "accept",
        hello: serverHello(this.id),
        opened: (channel) => {
          this.#channels.add(channel);
          channel.open({
            frame: (bytes) => this.#frame(channel, bytes),
            closed: () => this.#channels.delete(channel),
          });
        },
      }
    );
  }

  #frame(channel: Channel, bytes: Uint8Array): void {
    for (const request of readRequests(bytes) ?? []) {
      this.asked.push(request.body);
      if (this.#cluster.isUnchanged(request.body)) continue;
      const reaction = this.behave(request, () => this.#cluster.honestAnswer(this, request.body));
      if (reaction instanceof Promise) void reaction.then((later) => this.#react(channel, request, later));
      else this.#react(channel, request, reaction);
    }
  }

  #react(channel: Channel, { id }: Request, reaction: Reaction): void {
    if (reaction === "hang up") channel.close("hung up");
    else if (reaction !== "silence") {
      for (const frame of responseFrames([{ id, body: reaction }])) channel.send(frame);
    }
  }
}

interface ConnectOptions {
  session?: boolean;
  requestTimeoutMs?: number;
  endpoints?: readonly string[];
  sessionTtlMs?: number;
  preferredEndpoint?: string;
  hold?: () => Cancel;
}

export class FakeCluster {
  readonly network = memoryNetwork();
  readonly clock: ManyTimers = manyTimers();
  readonly nodes: FakeNode[];
  readonly store: StoreState = createStore();
  leader = "a";
  term = 1;
  #index = 0;

  constructor(count: number) {
    const ids = ["a", "b", "c", "d", "e"].slice(0, count);
    this.nodes = ids.map((id, at) => new FakeNode(this, id, `ws://10.0.0.${at + 1}:7101`));
  }

  static async start(count: number): Promise<FakeCluster> {
    const cluster = new FakeCluster(count);
    await Promise.all(cluster.nodes.map((node) => node.start()));
    return cluster;
  }

  node(id: string): FakeNode {
    const found = this.nodes.find((node) => node.id === id);
    if (found === undefined) throw new Error(`no node ${id}`);
    return found;
  }

  /** How the leader answers what is asked about members. */
  onMembers: (body: RequestBody) => ResponseBody = () => failed("CHANGE_REFUSED");

  elect(id: string): void {
    this.leader = id;
    this.term += 1;
  }

  apply(data: Uint8Array): ReturnType<typeof applyEntry> {
    this.#index += 1;
    return applyEntry(this.store, { index: this.#index, term: this.term, kind: "command", data });
  }

  /** Whoever waits for a change of leases waits. */
  isUnchanged(body: RequestBody): boolean {
    if (body.kind === "awaitLease") return getLease(this.store, body.name).changed <= body.changed;
    if (body.kind !== "awaitSession") return false;
    return leaseSetOf(this.store, body.session)?.version === body.version;
  }

  honestAnswer(node: FakeNode, body: RequestBody): ResponseBody {
    const leads = node.id === this.leader;
    switch (body.kind) {
      case "execute":
        return leads ? { kind: "executed", result: this.apply(body.proposal) } : this.notLeader();
      case "keepAlive":
        return leads ? { kind: "keptAlive", alive: isAlive(this.store, body.session) } : this.notLeader();
      case "get":
        return { kind: "got", pair: getPair(this.store, body.key), revision: revision(this.store) };
      case "list":
        return { kind: "listed", ...listPairs(this.store, body.range, body), revision: revision(this.store) };
      case "status":
        return this.#status(node);
      case "transfer":
        if (!leads) return this.notLeader();
        this.elect(body.target === "" ? "b" : body.target);
        return { kind: "transferred", leader: this.leader, term: this.term };
      case "listMembers":
      case "changeMembers":
      case "joinCluster":
        return leads ? this.onMembers(body) : this.notLeader();
      case "watch":
      case "watchCredit":
      case "unwatch":
      case "takeSnapshot":
      case "snapshotPart":
        return failed("REFUSED");
      case "renewAll": {
        if (!leads) return this.notLeader();
        const versions = body.sessions.map((session) => leaseSetOf(this.store, session)?.version);
        return {
          kind: "renewedAll",
          apart: body.sessions.filter((_, at) => versions[at] !== body.versions[at]),
        };
      }
      case "renew":
      case "awaitSession": {
        const set = leaseSetOf(this.store, body.session);
        return leads ? { kind: "sessionState", alive: set !== undefined, set } : this.notLeader();
      }
      case "getLease":
      case "awaitLease":
        return { kind: "lease", lease: getLease(this.store, body.name), revision: revision(this.store) };
      case "leaseHistory":
        return {
          kind: "leaseHistory",
          lease: getLease(this.store, body.name),
          past: pastGrantsOf(this.store, body.name),
          revision: revision(this.store),
        };
      case "listCandidates":
        return {
          kind: "candidates",
          ...listCandidates(this.store, body.name, body.limit),
          revision: revision(this.store),
        };
      case "listSessions":
        return {
          kind: "sessions",
          ...listSessions(this.store, body.from, body.limit),
          revision: revision(this.store),
        };
      case "listLeases":
        return {
          kind: "leases",
          ...listLeases(this.store, body.range, body.limit),
          revision: revision(this.store),
        };
    }
  }

  notLeader(): ResponseBody {
    const leaderEndpoint = this.nodes.find((node) => node.id === this.leader)?.endpoint ?? "";
    return failed("NOT_LEADER", { retryable: true, leaderEndpoint });
  }

  connect(options: ConnectOptions = {}): ClientCluster {
    const { endpoints = this.nodes.map((node) => node.endpoint), preferredEndpoint, hold, ...rest } = options;
    return createCluster(
      {
        network: this.network,
        clock: this.clock,
        random: seededRandom(7),
        logger: silentLogger,
        ...(hold === undefined ? {} : { hold }),
      },
      {
        ...resolveClientOptions({ endpoints, ...rest }),
        ...(preferredEndpoint === undefined ? {} : { preferredEndpoint }),
      },
    );
  }

  #status(node: FakeNode): ResponseBody {
    return {
      kind: "status",
      status: {
        id: node.id,
        pid: 42,
        standing: "born",
        clusterId: "0123456789abcdef0123456789abcdef",
        role: node.id === this.leader ? "leader" : node.role,
        term: this.term,
        leader: this.leader,
        commitIndex: this.#index,
        appliedIndex: this.#index,
        lastIndex: this.#index,
        revision: revision(this.store),
        mute: false,
        members: this.nodes.map(({ id, endpoint }) => ({ id, endpoint })),
        complaints: [],
      },
    };
  }
}

export function failed(
  code: string,
  facts: { retryable?: boolean; outcome?: "none" | "unknown"; leaderEndpoint?: string } = {},
): ResponseBody {
  const { retryable = false, outcome = "none", leaderEndpoint = "" } = facts;
  return {
    kind: "failed",
    failure: { code, message: `It said ${code}.`, retryable, outcome, leaderEndpoint },
  };
}

/** The error that a promise rejects with; fails where it resolves. */
export async function errorFrom(promise: Promise<unknown>): Promise<Record<string, unknown> & Error> {
  try {
    await promise;
  } catch (error) {
    return error as Record<string, unknown> & Error;
  }
  throw new Error("it resolved, but was to reject");
}

/** What a promise comes to while virtual time passes. */
export async function passing<T>(clock: ManyTimers, durationMs: number, promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  await clock.pass(durationMs);
  return promise;
}
