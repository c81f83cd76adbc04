/**
 * A cluster that is upgraded one node at a time, in virtual time: the shipped nodes, of which some own up to knowing
 * the first version of the state machine alone and show none in their hellos, as releases before versions do. No
 * command of a later version reaches them, and once the cluster is of one, they do not come in again.
 */
import type { Cluster } from "@quorate/client";
import { createCluster } from "@quorate/client/internal";
import { type Command, encodeProposal, machineVersion, peekCommandKind } from "@quorate/client/protocol";
import { type AssembledNode, assembleNode } from "@quorate/kv/internal";
import { hashState } from "@quorate/kv/machine";
import { type Hello, type Network, type NodeId, type QuorateError, silentLogger } from "@quorate/raft";
import type { World } from "@quorate/sim";
import * as sim from "@quorate/sim";
import { MemoryBatchStore, MemorySlotFile, MemorySnapshotFiles, openLog } from "@quorate/storage/internal";
import { describe, expect, it } from "vitest";
import { outcomeIn } from "./outcome.ts";

const founders = ["a", "b", "c"];
const pending = { code: "UPGRADE_PENDING", retryable: true, outcome: "none" };

interface Running {
  readonly node: AssembledNode;
  readonly process: ReturnType<World["process"]>;
  /** Of the commands that it has applied. */
  readonly kinds: (Command["kind"] | undefined)[];
  /** Why it stopped by itself. */
  stopped: QuorateError | undefined;
}

interface StartOptions {
  /** A release that knows no versions. */
  readonly isOld?: boolean;
  /** Asks those to be taken in. */
  readonly via?: readonly string[];
}

class Fleet {
  readonly running = new Map<string, Running>();
  readonly client: Cluster;
  /** Of a release that knows of no versions. */
  readonly oldClient: Cluster;
  readonly #simulation: sim.Simulation;
  readonly #directories = new Map<string, ReturnType<typeof newDirectory>>();
  #starts = 0;

  constructor(seed: number) {
    this.#simulation = simulation(seed);
    this.client = this.#connect("client", (network) => network);
    this.oldClient = this.#connect("old client", withoutVersions);
  }

  #connect(name: string, over: (network: Network) => Network): Cluster {
    const { world } = this.#simulation;
    const process = world.process(name);
    return createCluster(
      {
        network: over(world.network.portOf(process, name)),
        clock: process.clock,
        random: world.chance(name),
        logger: silentLogger,
      },
      {
        endpoints: founders.map((each) => this.#addressOf(each)),
        requestTimeoutMs: 5_000,
        sessionTtlMs: 5_000,
        session: true,
      },
    );
  }

  #addressOf(name: string): string {
    return this.#simulation.cluster.host(name).address;
  }

  /** What `promise` comes to, in virtual time. */
  async outcome<T>(promise: Promise<T>, withinMs = 20_000): Promise<T> {
    return outcomeIn((forMs, isDone) => this.run(forMs, isDone), promise, withinMs);
  }

  async run(forMs: number, isDone?: () => boolean): Promise<boolean> {
    const { world, history } = this.#simulation;
    return sim.runFor({ world, history }, forMs, isDone);
  }

  async until(what: string, isSo: () => boolean): Promise<void> {
    if (!isSo() && !(await this.run(20_000, isSo))) throw new Error(`${what}: not within 20 s`);
  }

  async start(name: string, { isOld = false, via }: StartOptions = {}): Promise<Running> {
    const { world } = this.#simulation;
    this.#starts += 1;
    const before = this.#directories.get(name) ?? newDirectory();
    const directory = {
      batches: new MemoryBatchStore(before.batches.contents()),
      slots: new MemorySlotFile(before.slots.contents()),
      snapshots: new MemorySnapshotFiles(before.snapshots.contents()),
    };
    this.#directories.set(name, directory);
    const process = world.process(name);
    const random = world.chance(`start ${this.#starts}`);
    const network = world.network.portOf(process, name);
    const kinds: Running["kinds"] = [];
    const address = this.#addressOf(name);
    const starting = assembleNode(
      {
        log: await openLog({ ...directory, nodeId: name as NodeId, random }),
        network: isOld ? withoutVersions(network) : network,
        clock: process.clock,
        random,
        logger: silentLogger,
        wrap: {
          machine: ({ machine }) => ({
            ...machine,
            apply(entry) {
              if (entry.kind === "command") kinds.push(peekCommandKind(entry.data));
              return machine.apply(entry);
            },
          }),
          transport: (transport) => transport,
        },
      },
      {
        id: name,
        listen: address,
        peers:
          via === undefined
            ? Object.fromEntries(founders.map((each) => [each, this.#addressOf(each)]))
            : undefined,
        ...(via === undefined
          ? {}
          : { via: { endpoints: via.map((each) => this.#addressOf(each)), votes: true } }),
        raft: { heartbeatMs: 50, electionTimeoutMinMs: 150, electionTimeoutMaxMs: 300 },
        client: { requestTimeoutMs: 2_000, sessionTtlMs: 5_000, session: false },
        pid: this.#starts,
        ...(isOld ? { machineVersion: 1 } : {}),
      },
    );
    const running: Running = {
      node: await this.outcome(starting, 40_000),
      process,
      kinds,
      stopped: undefined,
    };
    running.node.node.closed.catch((error: QuorateError) => {
      running.stopped = error;
    });
    this.running.set(name, running);
    return running;
  }

  async stop(name: string): Promise<void> {
    const { node, process } = this.#named(name);
    await this.outcome(node.close());
    process.kill();
    this.#simulation.world.network.processEnded(process, false);
    this.running.delete(name);
  }

  wipe(name: string): void {
    this.#directories.delete(name);
  }

  #named(name: string): Running {
    const running = this.running.get(name);
    if (running === undefined) throw new Error(`${name} does not run`);
    return running;
  }

  /** Once all have applied the same. */
  async settled(): Promise<void> {
    await this.until("all have applied the same", () => {
      const statuses = [...this.running.values()].map(({ node }) => node.raft.status());
      const newest = Math.max(...statuses.map(({ lastIndex }) => lastIndex));
      const leads = statuses.filter(({ role }) => role === "leader").length === 1;
      return leads && statuses.every(({ appliedIndex }) => appliedIndex === newest);
    });
  }

  async lead(name: string): Promise<void> {
    await this.settled();
    if (this.#named(name).node.raft.status().role === "leader") return;
    await this.outcome(this.client.transferLeadership({ target: name }));
    await this.settled();
  }

  get versions(): readonly number[] {
    return [...this.running.values()].map(({ node }) => node.host.store.version);
  }

  get hashes(): ReadonlySet<string> {
    return new Set([...this.running.values()].map(({ node }) => hashState(node.host.store)));
  }
}

function simulation(seed: number): sim.Simulation {
  return sim.openSimulation({ seed, nodes: 3, layer: "store", profile: sim.calmProfile });
}

function newDirectory(): {
  readonly batches: MemoryBatchStore;
  readonly slots: MemorySlotFile;
  readonly snapshots: MemorySnapshotFiles;
} {
  return {
    batches: new MemoryBatchStore(),
    slots: new MemorySlotFile(),
    snapshots: new MemorySnapshotFiles(),
  };
}

/** The hellos of a release that knows of no versions of the machine. */
function withoutVersions(network: Network): Network {
  const stripped = ({ machine: _, ...hello }: Hello): Hello => hello;
  return {
    dial: (address, hello, options) => network.dial(address, stripped(hello), options),
    listen: (address, accept) =>
      network.listen(address, (hello) => {
        const answer = accept(hello);
        return answer.kind === "accept" ? { ...answer, hello: stripped(answer.hello) } : answer;
      }),
  };
}

const newKinds: readonly (Command["kind"] | undefined)[] = [
  "raiseVersion",
  "grantAtOnce",
  "endGrace",
  "loseLease",
  undefined,
];

describe("a rolling upgrade", () => {
  it("lets no command of a new version into the log while an old member is there, and all of them afterwards", async () => {
    for (const seed of [1, 2, 3]) {
      const fleet = new Fleet(seed);
      await Promise.all(founders.map((name) => fleet.start(name, { isOld: true })));
      for (const [at, name] of founders.entries()) {
        await fleet.outcome(fleet.client.kv.put(`before ${name}`, at));
        await expect(fleet.outcome(fleet.client.lease.grantAtOnce())).rejects.toMatchObject(pending);
        await fleet.settled();
        expect(fleet.versions).toEqual([1, 1, 1]);
        for (const { kinds } of fleet.running.values()) {
          expect(kinds.filter((kind) => newKinds.includes(kind))).toEqual([]);
        }
        await fleet.stop(name);
        // Who is away has shown what it was: it is not counted as upgraded.
        await expect(fleet.outcome(fleet.client.lease.grantAtOnce())).rejects.toMatchObject({
          code: pending.code,
        });
        await fleet.start(name);
      }
      await fleet.until("the version is raised", () =>
        fleet.versions.every((version) => version === machineVersion),
      );
      expect(await fleet.outcome(fleet.client.lease.grantAtOnce())).toBe(false);
      await fleet.settled();
      expect(fleet.hashes.size).toBe(1);
      const [newest] = fleet.running.values();
      expect(newest?.kinds.filter((kind) => newKinds.includes(kind))).toEqual([
        "raiseVersion",
        "grantAtOnce",
      ]);
    }
  });

  it("goes on when the last old member is removed, and takes an old release in neither by its name nor by its directory", async () => {
    const fleet = new Fleet(4);
    const [, , c] = await Promise.all(founders.map((name) => fleet.start(name, { isOld: name === "c" })));
    await fleet.lead("a");
    await expect(fleet.outcome(fleet.client.lease.grantAtOnce())).rejects.toMatchObject({
      ...pending,
      message: expect.stringContaining("c knows version 1"),
    });
    const { nodes } = await fleet.outcome(fleet.client.status());
    const told = nodes.flatMap(({ complaints }) => complaints);
    expect(told.join(" ")).toContain(
      "Members of an older release, by the version of the state machine that they know: c (1)",
    );
    await fleet.outcome(fleet.client.members.remove("c"));
    await fleet.until("the version is raised", () =>
      ["a", "b"].every((name) => fleet.running.get(name)?.node.host.store.version === machineVersion),
    );
    expect(await fleet.outcome(fleet.client.lease.grantAtOnce())).toBe(false);
    expect(c?.kinds.filter((kind) => newKinds.includes(kind))).toEqual([]);
    await fleet.stop("c");

    const asItWas = await fleet.start("c", { isOld: true });
    await fleet.until("it is told why", () =>
      asItWas.node.raft
        .status()
        .complaints.some((each) => each.includes("knows version 1 of the state machine")),
    );
    await fleet.stop("c");
    fleet.wipe("c");
    await expect(fleet.start("c", { isOld: true, via: ["a", "b"] })).rejects.toMatchObject({
      code: "CHANGE_REFUSED",
      retryable: false,
      message: expect.stringContaining("Start it with a newer release"),
    });
    expect((await fleet.outcome(fleet.client.members.list())).members).toHaveLength(2);
  });

  it("lets a holder give back what it lost as releases before did, and as lost afterwards, which an old client is not told", async () => {
    const fleet = new Fleet(7);
    await Promise.all(founders.map((name) => fleet.start(name, { isOld: name === "c" })));
    await fleet.lead("a");
    const lose = async (): Promise<void> => {
      // Between two renewals of its session.
      const lease = await fleet.outcome(fleet.client.lease.acquire("x", { renewDeadlineMs: 300 }));
      await fleet.until("it is lost", () => lease.status === "lost");
      await fleet.outcome((await fleet.outcome(fleet.client.lease.acquire("x"))).release());
    };
    const ends = async (client: Cluster): Promise<readonly unknown[]> =>
      (await fleet.outcome(client.lease.history("x"))).map(({ end }) => end);
    await lose();
    expect(await ends(fleet.client)).toEqual(["released", "released"]);
    for (const { kinds } of fleet.running.values()) expect(kinds).not.toContain("loseLease");
    await fleet.stop("c");
    await fleet.start("c");
    await fleet.until("the version is raised", () =>
      fleet.versions.every((version) => version === machineVersion),
    );
    await lose();
    expect(await ends(fleet.client)).toEqual(["released", "released", "lost", "released"]);
    expect(await ends(fleet.oldClient)).toEqual(["released", "released", "released", "released"]);
    await fleet.settled();
    expect(fleet.hashes.size).toBe(1);
  });

  it("waits for a member that was not heard of yet", async () => {
    const fleet = new Fleet(5);
    await Promise.all(founders.map((name) => fleet.start(name, { isOld: true })));
    await fleet.settled();
    for (const name of founders) await fleet.stop(name);
    await fleet.start("a");
    await fleet.start("b");
    await expect(fleet.outcome(fleet.client.lease.grantAtOnce())).rejects.toMatchObject({
      ...pending,
      message: expect.stringContaining("c was not heard of yet"),
    });
    await fleet.run(5_000);
    expect(fleet.versions).toEqual([1, 1]);
    await fleet.start("c");
    await fleet.until("the version is raised", () =>
      fleet.versions.every((version) => version === machineVersion),
    );
  });

  it("of a version that a node does not know stops that node, at each of its starts, and it reads nothing wrongly", async () => {
    const fleet = new Fleet(6);
    await Promise.all(founders.map((name) => fleet.start(name)));
    await fleet.settled();
    const leader = [...fleet.running.values()].find(({ node }) => node.raft.status().role === "leader");
    const office = leader?.node.raft.status().term ?? 0;
    const later = encodeProposal({
      origin: { kind: "anonymous" },
      command: { kind: "raiseVersion", office, version: machineVersion + 1 },
    });
    leader?.node.raft.propose(later).catch(() => {});
    const refusal = {
      code: "NEWER_VERSION",
      message: expect.stringContaining(`is of version ${machineVersion + 1} of the state machine`),
    };
    // Whoever is left has no majority to tell it that the entry is committed.
    const haveStopped = (): Running[] =>
      [...fleet.running.values()].filter((each) => each.stopped !== undefined);
    await fleet.until("a majority has stopped", () => haveStopped().length >= 2);
    for (const { stopped } of haveStopped()) expect(stopped).toMatchObject(refusal);
    for (const name of founders) await fleet.stop(name);
    for (const name of founders) await fleet.start(name);
    await fleet.until("a majority has stopped again", () => haveStopped().length >= 2);
    for (const { stopped } of haveStopped()) expect(stopped).toMatchObject(refusal);
  });
});
