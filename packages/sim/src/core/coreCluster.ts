/**
 * A cluster of bare cores: hosts with a disk, an end of the wire and, while they run, a process with a core in it.
 *
 * What can be done to it is what can be done to whole nodes (faults/faultyCluster.ts), as far as it is there in a core.
 * A core that stops by itself without a fault that explains it is a violation.
 */
import {
  type Configuration,
  type MemberId,
  type Message,
  memberId,
  type NodeId,
  type RaftOptions,
  votersOnly,
} from "@quorate/raft";
import { coreOptions, resolveRaftOptions } from "@quorate/raft/internal";
import { sentenceOf } from "../cluster/sentenceOf.ts";
import { calmTemper, DiskError, type DiskTemper } from "../disk/stores.ts";
import type { Damage, FaultyCluster, FaultyHost } from "../faults/faultyCluster.ts";
import { hostNamed, newestLeader, pauseHost, resumeHost } from "../faults/hosts.ts";
import type { Checks } from "../invariants/checks.ts";
import type { MemberHistory } from "../invariants/history.ts";
import { addressOf } from "../network/network.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { CoreDirectory } from "./coreDirectory.ts";
import { CoreNode } from "./coreNode.ts";
import { CoreWire, type WireEnd } from "./coreWire.ts";

/** Directories are never wiped here, so a host has one incarnation. */
const incarnation = "0000000000000001";
const clusterId = "0".repeat(32);

export class CoreHost implements FaultyHost, WireEnd {
  readonly name: NodeId;
  readonly memberId: MemberId;
  readonly at: number;
  readonly directory: CoreDirectory;
  readonly temper: DiskTemper = calmTemper(0.5);
  clockRate = 1;
  timeouts: FaultyHost["timeouts"] = {};
  doomOfNextStart: FaultyHost["doomOfNextStart"];
  readonly isForeign = false;
  process: SimulatedProcess | undefined;
  running: CoreNode | undefined;
  member: MemberHistory | undefined;
  starts = 0;
  damage: Damage = "none";
  readonly isSpare = false;
  readonly isJoining = false;
  stopReason: string | undefined;

  constructor(name: NodeId, at: number, directory: CoreDirectory) {
    this.name = name;
    this.memberId = memberId(name, incarnation);
    this.at = at;
    this.directory = directory;
  }

  get isUp(): boolean {
    return this.process?.isAlive === true;
  }

  get isPaused(): boolean {
    return this.process?.isPaused === true;
  }

  receive(from: MemberId, messages: readonly Message[]): void {
    if (this.isPaused) this.receiveWhenResumed(from, messages);
    else this.running?.receive(from, messages);
  }

  peerLost(peer: MemberId): void {
    if (this.isPaused) this.whenResumed((running) => running.peerLost(peer));
    else this.running?.peerLost(peer);
  }

  /** Apart, since a function that holds a closure makes room for it each time that it is called. */
  private receiveWhenResumed(from: MemberId, messages: readonly Message[]): void {
    this.whenResumed((running) => running.receive(from, messages));
  }

  private whenResumed(act: (running: CoreNode) => void): void {
    const owner = this.process;
    const run = (): void => {
      if (this.running !== undefined) act(this.running);
    };
    owner?.hold({ atMs: 0, order: 0, owner, isTimer: false, run });
  }
}

export class CoreCluster implements FaultyCluster {
  readonly world: World;
  readonly checks: Checks;
  readonly hosts: readonly CoreHost[];
  private readonly wire: CoreWire;
  private readonly birth: Configuration;
  private readonly options: RaftOptions;

  constructor(world: World, checks: Checks, count: number, options: RaftOptions) {
    this.world = world;
    this.checks = checks;
    this.options = options;
    const names = Array.from({ length: count }, (_, at) => String.fromCharCode(97 + at) as NodeId);
    const chance = world.chance("disk");
    this.birth = votersOnly(
      names.map((name) => ({ id: memberId(name, incarnation), address: addressOf(name) })),
    );
    this.hosts = names.map((name, at) => new CoreHost(name, at, new CoreDirectory(this.birth, chance)));
    this.wire = new CoreWire(world, this.hosts);
  }

  host(name: string): CoreHost {
    return hostNamed(this.hosts, name);
  }

  leader(): CoreHost | undefined {
    return newestLeader(this.hosts);
  }

  startAll(): void {
    for (const host of this.hosts) this.start(host);
  }

  start(host: CoreHost): void {
    if (host.isUp) return;
    host.starts += 1;
    host.stopReason = undefined;
    host.temper.failsNext = false;
    host.temper.hasFailed = false;
    this.world.trace.observer?.ended("down", host.name);
    const process = this.world.process(host.name);
    host.process = process;
    this.world.trace.note(host.name, `process starts for the ${host.starts}. time`);
    process.atDeath(() => this.ended(host));
    this.world.timeline.schedule(0, process, () => this.open(host, process));
  }

  crash(host: CoreHost, isSilent: boolean): void {
    const { process, member } = host;
    if (process === undefined || !process.isAlive) return;
    if (host.directory.hasWriteInFlight) this.checks.history.mark("crash with a write in flight");
    if (member?.state?.role === "leader") this.checks.history.mark("leader crashed");
    this.world.trace.note(host.name, isSilent ? "power cut" : "killed");
    process.kill();
    if (!isSilent) this.wire.closed(host);
  }

  pause(host: CoreHost): void {
    pauseHost(this, host, false);
  }

  resume(host: CoreHost, timersFirst: boolean): void {
    resumeHost(this, host, timersFirst);
  }

  rot(host: CoreHost, from: number): void {
    this.crash(host, false);
    this.world.trace.note(
      host.name,
      `the log rots away from entry ${from + 1} of ${host.directory.batchCount} on`,
    );
    host.damage = "rot";
    host.directory.rot(from);
  }

  rotSnapshot(host: CoreHost, at: number): void {
    this.crash(host, false);
    host.directory.snapshots.rotNewest(at);
  }

  wipe(host: CoreHost): void {
    throw new Error(`${host.name} has no directory to wipe: birth is no part of the core`);
  }

  lend(host: CoreHost): void {
    throw new Error(`${host.name} has no directory to lend: identity is no part of the core`);
  }

  giveBack(): void {}

  keepCopy(host: CoreHost): () => void {
    throw new Error(`${host.name} has no directory to copy: identity is no part of the core`);
  }

  isKnownToAll(): boolean {
    return false;
  }

  join(host: CoreHost): void {
    throw new Error(`${host.name} cannot join: birth is no part of the core`);
  }

  changeMembers(host: CoreHost): void {
    throw new Error(`${host.name} cannot be asked for another membership: birth is no part of the core`);
  }

  transfer(host: CoreHost, target: string | undefined): void {
    host.running?.transfer(target === undefined ? undefined : memberId(target as NodeId, incarnation));
  }

  private open(host: CoreHost, process: SimulatedProcess): void {
    const { world, checks, wire } = this;
    const restored = host.directory.open();
    const birth = { clusterId, configuration: this.birth };
    const member = checks.opened({ kind: "born", birth, restored }, host.memberId, host.damage);
    host.member = member;
    const chance = world.chance(`node ${host.name} start ${host.starts}`);
    const resolved = resolveRaftOptions(this.options);
    const { snapshotEntries } = resolved;
    const options = coreOptions(resolved, host.memberId, chance.uint32());
    const { directory, temper } = host;
    const failed = (error: unknown): void => this.exit(host, process, error);
    const of = { world, checks, wire, end: host, process, directory, temper };
    const ports = { ...of, member, chance, snapshotEntries, failed };
    host.running = new CoreNode(options, restored, ports);
    host.running.begin();
  }

  private ended(host: CoreHost): void {
    host.directory.crash();
    if (host.member !== undefined) this.checks.ended(host.member);
    host.running = undefined;
    this.world.trace.observer?.ended("paused", host.name);
    this.world.trace.observer?.began("down", host.name);
  }

  private exit(host: CoreHost, process: SimulatedProcess, error: unknown): void {
    if (!process.isAlive) return;
    const reason = sentenceOf(error);
    this.world.trace.note(host.name, `process exits: ${reason}`);
    host.stopReason = reason;
    if (!(error instanceof DiskError)) {
      this.checks.history.fail("no unexpected stop", `${host.name} stopped by itself: ${reason}`);
    }
    process.kill();
    this.wire.closed(host);
  }
}
