/**
 * A cluster as faults, workloads and the recovery see it: hosts that crash, stand still and lose what they wrote.
 *
 * What runs on a host is not said here: a whole node (cluster/) or the bare core (core/). Types only.
 */
import type { MemberChange, NodeId, RaftOptions } from "@quorate/raft";
import type { DiskTemper } from "../disk/stores.ts";
import type { Checks } from "../invariants/checks.ts";
import type { MemberHistory } from "../invariants/history.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { World } from "../world/world.ts";

/** What the simulation did to a directory that a node may, or must, refuse to go on with. */
export type Damage = "none" | "rot" | "wiped" | "rolledBack";

export interface FaultyHost {
  readonly name: NodeId;
  /** The member that speaks for it, once its log was open. */
  readonly member: MemberHistory | undefined;
  /** Its process runs, or is paused. */
  readonly isUp: boolean;
  readonly isPaused: boolean;
  readonly damage: Damage;
  /** Down and empty until a change of membership brings it in. */
  readonly isSpare: boolean;
  /** Its process runs and asks to be taken in. */
  readonly isJoining: boolean;
  /** Why it stopped by itself, the last time. */
  readonly stopReason: string | undefined;
  readonly temper: DiskTemper;
  /** Its process, as it is now or was last. */
  readonly process: SimulatedProcess | undefined;
  /** Of true time, for its processes. */
  clockRate: number;
  /** Instead of those of the profile, from its next start on. */
  timeouts: RaftOptions;
  /** What happens to the process that is started next. */
  doomOfNextStart: { readonly calls: number; readonly strike: () => void } | undefined;
  /** It has the directory of another node. */
  readonly isForeign: boolean;
  readonly directory: {
    readonly isEmpty: boolean;
    /** Called when a write begins. */
    onWrite: (() => void) | undefined;
    readonly batchCount: number;
  };
  /** Set once its process has come up. `digest`: equal on nodes whose machines are equal. */
  readonly running: { digest(): string } | undefined;
}

/** How a node without a cluster comes in. */
export interface JoinPlan {
  readonly votes: boolean;
  /** The node whose place it takes, if it is not its own. */
  readonly replaces: string | undefined;
}

export interface FaultyCluster {
  readonly world: World;
  readonly checks: Checks;
  readonly hosts: readonly FaultyHost[];
  host(name: string): FaultyHost;
  /** The running leader of the newest term, if any. */
  leader(): FaultyHost | undefined;
  startAll(): void;
  /** Nothing, where it is up. */
  start(host: FaultyHost): void;
  /** SIGKILL; `isSilent`: the whole machine lost power, and nobody hears a goodbye. */
  crash(host: FaultyHost, isSilent: boolean): void;
  /** `isSuspended`: so is its machine, and its monotonic clock stands still. */
  pause(host: FaultyHost, isSuspended?: boolean): void;
  resume(host: FaultyHost, timersFirst: boolean): void;
  /** Kills it, and the batches `from`..`to` of its directory are gone when it starts again. */
  rot(host: FaultyHost, from: number, to: number): void;
  /** Kills it, and a bit of its newest snapshot, in the byte `at` modulo its length, is another one. */
  rotSnapshot(host: FaultyHost, at: number): void;
  /** `joins`: it takes its own place again when it starts, as whoever gives it that option means it to. */
  wipe(host: FaultyHost, joins?: JoinPlan): void;
  /** Starts the node, which asks to be taken in if it is no member yet. */
  join(host: FaultyHost, plan: JoinPlan): void;
  /** Asks the node, which should lead, for all of this at once; marks what came of it. */
  changeMembers(host: FaultyHost, changes: readonly MemberChange[]): void;
  /** Asks the node to hand leadership to `target`, or to whom it likes; marks what came of it. */
  transfer(host: FaultyHost, target: string | undefined): void;
  /** Kills it, and it has a copy of the directory of `other` until it is given back its own. */
  lend(host: FaultyHost, other: FaultyHost): void;
  /** Kills it, where it has another one's directory. */
  giveBack(host: FaultyHost): void;
  /** Copies its directory as it is now. What is given back kills it and puts the copy in place of the newer one. */
  keepCopy(host: FaultyHost): () => void;
  /** All others run, and have durably seen its present start. */
  isKnownToAll(host: FaultyHost): boolean;
}
