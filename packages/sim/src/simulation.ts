/**
 * A run in progress: the world, the cluster in it, its faults and its clients. `simulate` drives one from a seed;
 * scenarios drive theirs by hand.
 */
import { QuorateError, type StateMachine } from "@quorate/raft";
import { machineAssembly, raftAssembly, storeAssembly } from "./cluster/assembly.ts";
import { SimulatedCluster } from "./cluster/cluster.ts";
import { CoreCluster } from "./core/coreCluster.ts";
import { coreProfile } from "./core/coreFaults.ts";
import { CoreWorkload } from "./core/coreWorkload.ts";
import type { FaultyCluster } from "./faults/faultyCluster.ts";
import { Nemesis } from "./faults/nemesis.ts";
import { drawLeaseClients, drawProfile, drawSnapshots, type Profile } from "./faults/profile.ts";
import { Checks } from "./invariants/checks.ts";
import { History } from "./invariants/history.ts";
import type { Layer } from "./layer.ts";
import type { AnyMachineUnderTest, MachineUnderTest } from "./machine/machineUnderTest.ts";
import { Replicas } from "./machine/replicas.ts";
import { calmWire } from "./network/paths.ts";
import type { RunRecorder } from "./recording/runRecorder.ts";
import { requireWorldOptions } from "./requirements.ts";
import { ClientHistory } from "./workload/clientHistory.ts";
import { CommandWorkload } from "./workload/commandClients.ts";
import { SerialWorkload } from "./workload/serials.ts";
import { StoreWorkload } from "./workload/storeClients.ts";
import type { Workload } from "./workload/workload.ts";
import { World } from "./world/world.ts";

export interface WorldOptions {
  /** An unsigned 32-bit integer: it decides everything. */
  readonly seed: number;
  /** 1 to 7. */
  readonly nodes: number;
  /**
   * `store` (default): the whole node with its store, server and clients. `raft`: the runtime, log and links with
   * nothing above Raft, which is faster. `core`: the bare cores over a simulated wire and disk of their own, without a
   * byte or a promise, which is faster by far.
   */
  readonly layer?: Layer;
  /** A state machine of yours in place of the layer's own; the layer is then `raft`. */
  readonly machine?: AnyMachineUnderTest;
  /** Overrides what the seed would draw. */
  readonly profile?: Partial<Profile>;
  /**
   * Whether what the clients of the store did is held against the checker at the end. Default `sample`: the seed
   * decides, for one run in four; a replay is always checked.
   */
  readonly linearizability?: "sample" | "always" | "never";
  /** Lines of the trace kept for a failure. Default 200. */
  readonly keptLines?: number;
  /** Gets every line of the trace. */
  readonly onLine?: (line: string) => void;
  /** Records the run as the data of a page; changes nothing in it. */
  readonly recorder?: RunRecorder;
}

/** `Cluster`: of whole nodes, as long as nothing else is said. */
export interface Simulation<Cluster extends FaultyCluster = SimulatedCluster> {
  readonly world: World;
  readonly cluster: Cluster;
  readonly history: History;
  readonly nemesis: Nemesis;
  readonly workload: Workload;
  readonly profile: Profile;
}

/** Whatever runs on its hosts. */
export type FaultySimulation = Simulation<FaultyCluster>;

/** Of a machine of yours: `send` gives it commands, `stateOf` shows what became of it. */
export interface MachineSimulation<Command, M extends StateMachine<unknown>> extends Simulation {
  readonly machine: MachineUnderTest<Command, M>;
}

/** Throws `INVALID_OPTIONS` with the name and the value of what cannot be. */
export function openSimulation<Command, M extends StateMachine<unknown>>(
  options: Omit<WorldOptions, "machine"> & { readonly machine: MachineUnderTest<Command, M> },
): MachineSimulation<Command, M>;
export function openSimulation(
  options: WorldOptions & { readonly layer?: Exclude<Layer, "core"> },
): Simulation;
export function openSimulation(options: WorldOptions): FaultySimulation;
export function openSimulation(options: WorldOptions): FaultySimulation {
  requireWorldOptions(options);
  const { seed, layer, keptLines = 200, onLine } = options;
  const followsPromises = layer !== "core";
  const world = new World(seed, { keptLines, followsPromises, ...(onLine === undefined ? {} : { onLine }) });
  const leaseClients = drawLeaseClients(world.chance("lease clients"));
  const chosen: Profile = { leaseClients, ...drawProfile(world.chance("profile")), ...options.profile };
  const given = {
    ...chosen,
    options: { ...drawSnapshots(world.chance("snapshots"), chosen), ...chosen.options },
  };
  // Nobody else brings them in.
  const spares = given.faults.member === undefined ? (options.profile?.spares ?? 0) : given.spares;
  const drawn = { ...given, spares };
  const profile = layer === "core" ? coreProfile(drawn) : drawn;
  const history = new History(world.timeline, world.trace);
  const checks = new Checks(history);
  const { machine } = options;
  const { cluster, workload } =
    machine === undefined
      ? populate(world, checks, options, profile)
      : populateWith(machine, world, checks, options, profile);
  world.paths.temper = { ...calmWire, ...profile.wire };
  const clocks = world.chance("clock rates");
  for (const host of cluster.hosts) host.clockRate += (profile.clockDrift ?? 0) * (2 * clocks.fraction() - 1);
  for (const host of cluster.hosts) host.temper.meanLatencyMs = profile.meanDiskLatencyMs;
  const nemesis = new Nemesis(cluster, profile.meanDiskLatencyMs);
  const bare = { world, cluster, history, nemesis, workload, profile };
  const simulation = machine === undefined ? bare : { ...bare, machine };
  options.recorder?.attach(simulation);
  return simulation;
}

type Population = Pick<FaultySimulation, "cluster" | "workload">;

/** The hosts with what runs on them, and the clients that know how to speak to it. */
function populate(
  world: World,
  checks: Checks,
  given: WorldOptions,
  { leaseClients, options, readShare, spares }: Profile,
): Population {
  const { nodes, layer = "store" } = given;
  switch (layer) {
    case "store": {
      const cluster = new SimulatedCluster(
        world,
        checks,
        nodes,
        storeAssembly(options, { staysWhenRemoved: true }),
        spares,
      );
      return {
        cluster,
        workload: new StoreWorkload(cluster, readShare, recordedOf(given, cluster), leaseClients),
      };
    }
    case "raft": {
      const cluster = new SimulatedCluster(world, checks, nodes, raftAssembly(options), spares);
      return { cluster, workload: new SerialWorkload(cluster, readShare) };
    }
    case "core": {
      const cluster = new CoreCluster(world, checks, nodes, options);
      return { cluster, workload: new CoreWorkload(cluster, readShare) };
    }
  }
}

/** A machine of the user's, and clients that send it commands. */
function populateWith(
  machine: AnyMachineUnderTest,
  world: World,
  checks: Checks,
  { nodes, layer }: WorldOptions,
  { options, spares }: Profile,
): Population {
  if (layer === "store" || layer === "core") {
    throw new QuorateError(
      "INVALID_OPTIONS",
      `A machine of yours runs on the layer "raft", not "${layer}": leave layer out, or say layer: "raft".`,
    );
  }
  const replicas = new Replicas(machine, checks.history);
  const cluster = new SimulatedCluster(world, checks, nodes, machineAssembly(options, replicas), spares);
  return { cluster, workload: new CommandWorkload(cluster, machine, replicas) };
}

/** A second opinion, on samples: by default the seed decides whether the checker looks at a run. */
function recordedOf(
  { linearizability = "sample" }: WorldOptions,
  { world }: SimulatedCluster,
): ClientHistory | undefined {
  const isSample = world.chance("linearizability").below(checkedOneIn) === 0;
  const isChecked = linearizability === "sample" ? isSample : linearizability === "always";
  return isChecked ? new ClientHistory() : undefined;
}

const checkedOneIn = 4;
const maxEventsAtOnce = 10_000;

/** Runs until `isDone` (then true), for `durationMs` at most, or until something is violated. */
export async function runFor(
  { world, history, workload }: Pick<FaultySimulation, "world" | "history"> & Partial<FaultySimulation>,
  durationMs: number,
  isDone: () => boolean = () => false,
): Promise<boolean> {
  const { timeline } = world;
  let atMs = timeline.nowMs;
  let eventsAt = 0;
  await world.run(timeline.nowMs + durationMs, () => {
    if (timeline.nowMs === atMs) {
      eventsAt += 1;
      if (eventsAt > maxEventsAtOnce) {
        history.fail(
          "L14 no busy loop",
          `more than ${maxEventsAtOnce} events happened without time moving on`,
        );
      }
    } else {
      atMs = timeline.nowMs;
      eventsAt = 0;
    }
    workload?.look?.();
    return history.violations.length > 0 || isDone();
  });
  return history.violations.length === 0 && isDone();
}
