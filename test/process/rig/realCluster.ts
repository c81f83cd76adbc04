/**
 * A cluster of real node processes on this machine, each with its own directory and ports, and what a test does to it
 * from outside. Everything is gone after `dispose`, also when the test failed.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cluster, connect } from "@quorate/client";
import type { FoundPair } from "./history.ts";
import { LinkProxy } from "./linkProxy.ts";
import { NodeProcess } from "./nodeProcess.ts";
import { NodeSpeaker, type NodeView } from "./nodeSpeaker.ts";
import { freePortBlock } from "./ports.ts";
import { until, within } from "./waiting.ts";

export interface RealClusterOptions {
  readonly size: 1 | 3 | 5;
  /** With a proxy in front of every node, which the others and the clients go through. */
  readonly proxies?: boolean;
  readonly moreArguments?: readonly string[];
}

const names = ["a", "b", "c", "d", "e"] as const;

export class RealCluster implements AsyncDisposable {
  readonly nodes: readonly NodeProcess[];
  readonly directory: string;
  readonly #proxies: ReadonlyMap<string, LinkProxy>;
  readonly #speakers: ReadonlyMap<string, NodeSpeaker>;
  readonly #clients: Cluster[] = [];

  private constructor(
    nodes: readonly NodeProcess[],
    directory: string,
    proxies: ReadonlyMap<string, LinkProxy>,
  ) {
    this.nodes = nodes;
    this.directory = directory;
    this.#proxies = proxies;
    this.#speakers = new Map(nodes.map((node) => [node.id, new NodeSpeaker(node.spec.listen)]));
  }

  /** Founded, with a leader, and every node follows it. */
  static async start(options: RealClusterOptions): Promise<RealCluster> {
    const cluster = await RealCluster.prepare(options);
    try {
      for (const node of cluster.nodes) node.start();
      await cluster.healthy();
      return cluster;
    } catch (error) {
      const logs = cluster.nodes.map((node) => `--- ${node.id}\n${node.log}`).join("\n");
      await cluster.dispose();
      throw new Error(`The cluster did not start: ${String(error)}\n${logs}`, { cause: error });
    }
  }

  /** Nothing runs yet but the proxies. */
  static async prepare(options: RealClusterOptions): Promise<RealCluster> {
    const { size, proxies = false, moreArguments = [] } = options;
    const directory = await mkdtemp(join(tmpdir(), "quorate-test-"));
    const firstPort = await freePortBlock(proxies ? 2 * size : size);
    const ids = names.slice(0, size);
    const address = (port: number): string => `ws://127.0.0.1:${port}`;
    const listen = (i: number): string => address(firstPort + i);
    const reached = (i: number): string => address(firstPort + i + (proxies ? size : 0));
    const peers = Object.fromEntries(ids.map((id, i) => [id, reached(i)]));
    const nodes = ids.map(
      (id, i) =>
        new NodeProcess({ id, listen: listen(i), peers, dataDir: join(directory, id), moreArguments }),
    );
    const links = new Map<string, LinkProxy>();
    for (const [i, id] of proxies ? ids.entries() : []) {
      const proxy = new LinkProxy(firstPort + i);
      await proxy.listen(firstPort + i + size);
      links.set(id, proxy);
    }
    return new RealCluster(nodes, directory, links);
  }

  node(id: string): NodeProcess {
    const found = this.nodes.find((node) => node.id === id);
    if (found === undefined) throw new Error(`There is no node ${id}`);
    return found;
  }

  /** The proxy in front of a node: what is set there for `a` is done to what `a` says to that node. */
  proxy(id: string): LinkProxy {
    const found = this.#proxies.get(id);
    if (found === undefined) throw new Error(`There is no proxy in front of ${id}`);
    return found;
  }

  /** Where clients reach the nodes. */
  get endpoints(): readonly string[] {
    return Object.values((this.nodes[0] as NodeProcess).spec.peers);
  }

  /** A client of all nodes, or of those that are named; closed with the cluster. */
  async client(ids: readonly string[] = this.nodes.map((node) => node.id)): Promise<Cluster> {
    const endpoints = ids.map((id) => this.node(id).spec.peers[id] as string);
    const client = await connect({ endpoints });
    this.#clients.push(client);
    return client;
  }

  /** What a node itself says, asked at its own address; undefined where it does not answer. */
  async view(id: string): Promise<NodeView | undefined> {
    return this.speaker(id).view();
  }

  async views(): Promise<readonly NodeView[]> {
    const views = await Promise.all(this.nodes.map((node) => this.view(node.id)));
    return views.filter((view) => view !== undefined);
  }

  /** The node that leads in the newest term, once one does and knows it. */
  async leader(withinMs?: number): Promise<NodeProcess> {
    const id = await until(
      "a node leads",
      async () => {
        const leaders = (await this.views()).filter((view) => view.role === "leader");
        return leaders.sort((a, b) => b.term - a.term)[0]?.id;
      },
      withinMs === undefined ? {} : { withinMs },
    );
    return this.node(id);
  }

  /**
   * Until every running node is a voter that follows the one leader and has applied what was committed when this was
   * called. True under load too.
   */
  async healthy(withinMs?: number): Promise<void> {
    const ids = this.nodes.filter((node) => node.isRunning).map((node) => node.id);
    const committed = Math.max(0, ...(await this.views()).map((view) => view.commitIndex));
    await this.#untilViews(ids, "take part", withinMs, (views) => {
      return followOneLeader(views) && views.every((view) => view.appliedIndex >= committed);
    });
  }

  /** Until the nodes that are named follow one leader and have applied all that any of them has. For quiet times. */
  async agree(ids: readonly string[], withinMs?: number): Promise<readonly NodeView[]> {
    return this.#untilViews(ids, "agree", withinMs, (views) => {
      const last = Math.max(...views.map((view) => view.lastIndex));
      return followOneLeader(views) && views.every((view) => view.appliedIndex === last);
    });
  }

  async #untilViews(
    ids: readonly string[],
    what: string,
    withinMs: number = 30_000,
    test: (views: readonly NodeView[]) => boolean,
  ): Promise<readonly NodeView[]> {
    let seen: readonly (NodeView | undefined)[] = [];
    try {
      return await until(
        `${ids.join(", ")} ${what}`,
        async () => {
          seen = await Promise.all(ids.map((id) => this.view(id)));
          const views = seen.filter((view) => view !== undefined);
          return views.length === ids.length && test(views) ? views : undefined;
        },
        { withinMs },
      );
    } catch (error) {
      throw new Error(`${String(error)}\n${ids.map((id, i) => this.#describe(id, seen[i])).join("\n")}`, {
        cause: error,
      });
    }
  }

  #describe(id: string, view: NodeView | undefined): string {
    const node = this.node(id);
    if (view !== undefined) {
      const { members: _, ...facts } = view;
      return `${id}: ${JSON.stringify(facts)}`;
    }
    const state = node.isRunning ? "runs and does not answer" : "does not run";
    return `${id}: ${state}; its last words:\n${node.log.split("\n").slice(-8).join("\n")}`;
  }

  /** Everything below `prefix` that a node has applied, read from that node alone. */
  async readAll(id: string, prefix: string): Promise<ReadonlyMap<string, FoundPair>> {
    return this.speaker(id).readAll(prefix);
  }

  async dispose(): Promise<void> {
    for (const speaker of this.#speakers.values()) speaker.close();
    await Promise.allSettled(
      this.#clients.map((client) => within("the end of a client", client.close(), 5_000)),
    );
    await Promise.allSettled(this.nodes.map((node) => node.kill()));
    await Promise.allSettled([...this.#proxies.values()].map((proxy) => proxy.close()));
    await rm(this.directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  /** Speaks to one node at its own address, past its proxy. */
  speaker(id: string): NodeSpeaker {
    const speaker = this.#speakers.get(id);
    if (speaker === undefined) throw new Error(`There is no node ${id}`);
    return speaker;
  }
}

function followOneLeader(views: readonly NodeView[]): boolean {
  const [first] = views;
  if (first === undefined || first.leader === "") return false;
  return views.every(
    (view) =>
      view.standing === "born" && !view.mute && view.term === first.term && view.leader === first.leader,
  );
}
