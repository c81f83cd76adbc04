/**
 * A simulated cluster: hosts with a disk, an address and, while they run, a process with the shipped node in it.
 *
 * Here is what can be done to it: crash, restart, pause, resume, wipe, roll back. What runs in a process is decided by
 * an `Assembly` (assembly.ts). A node that stops by itself without a fault that explains it is a violation.
 */
import { type LogStore, type MemberChange, type NodeId, QuorateError, type RaftOptions } from "@quorate/raft";
import { type DirectoryCopy, SimulatedDirectory } from "../disk/directory.ts";
import { calmTemper, type DiskTemper } from "../disk/stores.ts";
import type { Damage, FaultyCluster, FaultyHost, JoinPlan } from "../faults/faultyCluster.ts";
import { hostNamed, newestLeader, pauseHost, resumeHost } from "../faults/hosts.ts";
import type { Checks } from "../invariants/checks.ts";
import type { MemberHistory } from "../invariants/history.ts";
import { addressOf } from "../network/network.ts";
import type { Chance } from "../world/chance.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { World } from "../world/world.ts";
import type { Assembly, RunningNode } from "./assembly.ts";
import { sentenceOf } from "./sentenceOf.ts";

/** After which a node starts again that gave up joining. */
const startedAgainMs = 500;

export class SimulatedHost implements FaultyHost {
  readonly name: NodeId;
  readonly address: string;
  /** Its own one, but while it has that of another node. */
  directory: SimulatedDirectory;
  readonly temper: DiskTemper = calmTemper(0.5);
  clockRate = 1;
  timeouts: RaftOptions = {};
  doomOfNextStart: FaultyHost["doomOfNextStart"];
  process: SimulatedProcess | undefined;
  /** Set once its process has come up. */
  running: RunningNode | undefined;
  member: MemberHistory | undefined;
  starts = 0;
  damage: Damage = "none";
  /** Why it stopped by itself, the last time. */
  stopReason: string | undefined;
  isCopyStarted = false;
  isSpare: boolean;
  /** How it comes in where its directory knows of no cluster; undefined: it founds one with the others. */
  joins: JoinPlan | undefined;
  /** Of this start, once it is open. */
  log: LogStore | undefined;
  private readonly ownDirectory: SimulatedDirectory;

  constructor(name: NodeId, chance: Chance, isSpare: boolean) {
    this.name = name;
    this.isSpare = isSpare;
    this.address = addressOf(name);
    this.ownDirectory = new SimulatedDirectory(chance);
    this.directory = this.ownDirectory;
  }

  get isForeign(): boolean {
    return this.directory !== this.ownDirectory;
  }

  giveBack(): void {
    this.directory = this.ownDirectory;
  }

  get isUp(): boolean {
    return this.process?.isAlive === true;
  }

  get isJoining(): boolean {
    return this.isUp && this.joins !== undefined && this.member?.isBorn !== true;
  }

  get isPaused(): boolean {
    return this.process?.isPaused === true;
  }
}

function letterAt(at: number): string {
  return String.fromCharCode(97 + at);
}

export class SimulatedCluster implements FaultyCluster {
  readonly world: World;
  readonly checks: Checks;
  readonly hosts: readonly SimulatedHost[];
  private readonly assembly: Assembly;
  private readonly diskChance: Chance;

  private readonly founders: readonly SimulatedHost[];

  /** `count` nodes that found the cluster, and so many `spares` that may join it later; by default named a, b, … */
  constructor(
    world: World,
    checks: Checks,
    count: number,
    assembly: Assembly,
    spares: number = 0,
    nameOf: (at: number) => string = letterAt,
  ) {
    this.world = world;
    this.checks = checks;
    this.assembly = assembly;
    this.diskChance = world.chance("disk");
    const names = Array.from({ length: count + spares }, (_, at) => nameOf(at) as NodeId);
    this.hosts = names.map((name, at) => new SimulatedHost(name, this.diskChance, at >= count));
    this.founders = this.hosts.slice(0, count);
  }

  /** What this host is told at its start: the nodes that found the cluster with it, or itself alone where it joins. */
  peersOf(host: SimulatedHost): Readonly<Record<string, string>> {
    const told = host.joins === undefined ? this.founders : [host];
    return Object.fromEntries(told.map(({ name, address }) => [name, address]));
  }

  host(name: string): SimulatedHost {
    return hostNamed(this.hosts, name);
  }

  /** Those whose process runs, paused ones too. */
  up(): readonly SimulatedHost[] {
    return this.hosts.filter((host) => host.isUp);
  }

  leader(): SimulatedHost | undefined {
    return newestLeader(this.hosts);
  }

  startAll(): void {
    for (const host of this.hosts) this.start(host);
  }

  start(host: SimulatedHost): void {
    if (host.isSpare) return;
    // An older copy is started once: each start makes it look newer, and only what others have seen tells its age.
    if (host.isUp || (host.damage === "rolledBack" && host.isCopyStarted && host.stopReason === undefined))
      return;
    host.isCopyStarted = host.damage === "rolledBack";
    host.starts += 1;
    host.stopReason = undefined;
    host.temper.failsNext = false;
    host.temper.hasFailed = false;
    this.world.trace.observer?.ended("down", host.name);
    const process = this.world.process(host.name);
    process.clock.setRate(host.clockRate);
    host.process = process;
    host.log = undefined;
    this.world.trace.note(host.name, `process starts for the ${host.starts}. time`);
    process.atDeath(() => this.ended(host));
    const doom = host.doomOfNextStart;
    host.doomOfNextStart = undefined;
    if (doom !== undefined) process.doomAt(doom.calls, doom.strike);
    this.world.timeline.schedule(0, process, () => {
      this.assembly.start(this, host, process).then(
        (running) => {
          if (!process.isAlive) return;
          host.running = running;
          running.closed.then(
            () => this.exit(host, process, "closed"),
            (error: unknown) => this.exit(host, process, sentenceOf(error)),
          );
        },
        (error: unknown) => this.startFailed(host, process, error),
      );
    });
  }

  /** The member speaks as of now: called by the assembly when the log is open. */
  opened(host: SimulatedHost, log: LogStore): MemberHistory {
    const member = `${log.identity.nodeId}.${log.identity.incarnation}` as MemberHistory["member"];
    if (host.isForeign)
      this.checks.history.fail("identity", `${host.name} opened the directory of ${member}`);
    host.log = log;
    // Who joins is a new member, of whom nothing was lost.
    const isNew = host.joins !== undefined && log.standing.kind === "unborn";
    if (isNew && host.damage === "wiped") host.damage = "none";
    host.member = this.checks.opened(log.standing, member, host.damage);
    return host.member;
  }

  /** SIGKILL; `isSilent`: the whole machine lost power, and nobody hears a goodbye. */
  crash(host: SimulatedHost, isSilent: boolean): void {
    const { process } = host;
    if (process === undefined || !process.isAlive) return;
    if (host.directory.hasWriteInFlight) this.checks.history.mark("crash with a write in flight");
    if (host.member?.state?.role === "leader") this.checks.history.mark("leader crashed");
    this.world.trace.note(host.name, isSilent ? "power cut" : "killed");
    process.kill();
    this.world.network.processEnded(process, isSilent);
  }

  pause(host: SimulatedHost, isSuspended: boolean = false): void {
    pauseHost(this, host, isSuspended);
  }

  resume(host: SimulatedHost, timersFirst: boolean): void {
    resumeHost(this, host, timersFirst);
  }

  /** What is wiped is its own directory, also where it has another's at the moment. */
  wipe(host: SimulatedHost, joins: JoinPlan | undefined = host.joins): void {
    this.giveBack(host);
    this.crash(host, false);
    this.world.trace.note(host.name, "directory wiped");
    if (!host.directory.isEmpty) host.damage = "wiped";
    host.directory.wipe();
    host.member = undefined;
    host.joins = joins;
  }

  /** One that runs and belongs to nobody is started anew for it: how to come in is told at a start. */
  join(host: SimulatedHost, plan: JoinPlan): void {
    if (host.isUp && host.member?.isBorn === true) return;
    if (host.isUp && !host.isJoining) this.crash(host, false);
    host.joins = plan;
    host.isSpare = false;
    this.start(host);
  }

  changeMembers(host: SimulatedHost, changes: readonly MemberChange[]): void {
    const { history } = this.checks;
    host.running?.raft.changeMembers(changes).then(
      () => history.mark("membership changed on request"),
      (error: unknown) => {
        if (error instanceof QuorateError && error.code === "CHANGE_REFUSED") history.mark("change refused");
      },
    );
  }

  copy(host: SimulatedHost): DirectoryCopy {
    return host.directory.copy();
  }

  keepCopy(host: SimulatedHost): () => void {
    const copy = this.copy(host);
    return () => this.rollBack(host, copy);
  }

  isKnownToAll(host: SimulatedHost): boolean {
    const { log } = host;
    if (log === undefined) return false;
    const member = `${log.identity.nodeId}.${log.identity.incarnation}` as MemberHistory["member"];
    return this.hosts.every((other) => {
      if (other === host) return true;
      const isIdle = other.isUp && !other.isPaused && !other.directory.hasWriteInFlight;
      return isIdle && (other.log?.seen.get(member)?.boot ?? 0) >= log.boot;
    });
  }

  lend(host: SimulatedHost, other: SimulatedHost): void {
    this.crash(host, false);
    this.world.trace.note(host.name, `gets a copy of the directory of ${other.name}`);
    host.directory = new SimulatedDirectory(this.diskChance);
    host.directory.restore(other.directory.copy());
  }

  giveBack(host: SimulatedHost): void {
    if (!host.isForeign) return;
    const isRefused = host.stopReason?.startsWith("WRONG_DIRECTORY") === true;
    if (isRefused) this.checks.history.mark("another node's directory refused");
    this.crash(host, false);
    this.world.trace.note(host.name, "gets its own directory back");
    host.giveBack();
  }

  rollBack(host: SimulatedHost, copy: DirectoryCopy): void {
    this.crash(host, false);
    this.world.trace.note(host.name, "an older copy of the directory is put back");
    host.damage = "rolledBack";
    host.directory.restore(copy);
  }

  /** A damaged database: batches `from`..`to` are gone when it is next opened. */
  rot(host: SimulatedHost, from: number, to: number): void {
    this.crash(host, false);
    this.world.trace.note(host.name, `batches ${from} to ${to} of ${host.directory.batchCount} rot away`);
    host.damage = "rot";
    host.directory.rot(from, to);
  }

  rotSnapshot(host: SimulatedHost, at: number): void {
    this.crash(host, false);
    host.directory.snapshots.rotNewest(at);
  }

  transfer(host: SimulatedHost, target: string | undefined): void {
    const { history } = this.checks;
    host.running?.raft.transferLeadership(target === undefined ? {} : { target }).then(
      ({ leader }) => {
        if (leader !== host.name) history.mark("leadership transferred");
      },
      () => history.mark("transfer came to nothing"),
    );
  }

  private ended(host: SimulatedHost): void {
    if (host.member !== undefined) this.checks.ended(host.member);
    host.running = undefined;
    this.world.trace.observer?.ended("starved", host.name);
    this.world.trace.observer?.ended("paused", host.name);
    this.world.trace.observer?.began("down", host.name);
  }

  /** One that is refused for good goes back to the spares. */
  private startFailed(host: SimulatedHost, process: SimulatedProcess, error: unknown): void {
    const isRefused = error instanceof QuorateError && error.code === "CHANGE_REFUSED" && !error.retryable;
    const isSpareAgain = isRefused && host.isJoining;
    this.exit(host, process, sentenceOf(error));
    if (isSpareAgain) host.isSpare = true;
  }

  private exit(host: SimulatedHost, process: SimulatedProcess, reason: string): void {
    if (!process.isAlive) return;
    this.world.trace.note(host.name, `process exits: ${reason}`);
    host.stopReason = reason;
    if (host.damage === "rolledBack") this.checks.history.mark("older directory refused");
    const isOutside = host.isJoining;
    const isMeant = reason === "closed" || reason.startsWith("REMOVED: ");
    const isExplained =
      host.temper.hasFailed || host.isForeign || host.damage !== "none" || isOutside || isMeant;
    // Nobody took it in, in all the time that it had: whoever watches over it starts it again.
    if (isOutside) this.world.timeline.schedule(startedAgainMs, undefined, () => this.start(host));
    if (!isExplained) {
      this.checks.history.fail("no unexpected stop", `${host.name} stopped by itself: ${reason}`);
    }
    process.kill();
    this.world.network.processEnded(process, false);
  }
}
