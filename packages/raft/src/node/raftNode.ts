/**
 * What a running node offers to the code above it. `startNode` (start.ts) makes one from the ports.
 */
import type { Role } from "../core/contract.ts";
import type { MemberChange } from "../core/memberChange.ts";
import type { Progress } from "../core/progress.ts";
import type { Configuration, ConfigurationAt, Floor, Index, MemberId, NodeId, Term } from "../core/types.ts";
import type { SnapshotEvent } from "./snapshotEvents.ts";

export interface WaitOptions {
  /** Ends the waiting with `ABORTED`; of a proposal, the outcome is then unknown. */
  readonly signal?: AbortSignal;
}

export interface ChangeOptions extends WaitOptions {
  /** Only if the configuration in force is the one of this index; otherwise `CHANGE_REFUSED`. */
  readonly ifIndex?: Index;
}

export interface TransferOptions extends WaitOptions {
  /** The node that is to lead. Default: the voter that is best caught up. */
  readonly target?: string;
}

/** Who leads now, in which term. */
export interface Succession {
  readonly leader: NodeId;
  readonly term: Term;
}

/** A command that was committed and applied. */
export interface Applied<Result> {
  readonly index: Index;
  readonly term: Term;
  readonly result: Result;
}

export interface ReadPoint {
  /** Everything up to here was applied when the promise resolved. */
  readonly index: Index;
  readonly term: Term;
  /** Confirmed by this node itself as the leader of `term`; otherwise the leader was asked. */
  readonly asLeader: boolean;
}

export interface PeerStatus {
  readonly member: MemberId;
  readonly address: string;
  /** Whether our link to it stands. */
  readonly linked: boolean;
  /** The newest version of the machine that it has shown to this node; undefined: it has not greeted it yet. */
  readonly machine: number | undefined;
  /** Known to the leader only. */
  readonly matchIndex: Index | undefined;
  /** How the leader replicates to it: `snapshot` while it is sent one. */
  readonly mode: Progress["mode"] | undefined;
  /** Of the snapshot that it is sent. */
  readonly snapshot:
    | { readonly index: Index; readonly sentBytes: number; readonly bytes: number }
    | undefined;
}

/** The newest snapshot of a node, and where its log begins. */
export interface SnapshotStatus {
  readonly index: Index;
  readonly bytes: number;
}

/** Plain data: what a node knows of itself. */
export interface NodeStatus {
  readonly member: MemberId;
  /** `unborn`: waits for its cluster to be founded; `lost`: waits to be told its cluster again. */
  readonly standing: "unborn" | "lost" | "born" | "closed";
  /** A sentence: why it takes no requests at all yet. It waits for others, or restores its state from a snapshot. */
  readonly waitsFor: string | undefined;
  readonly clusterId: string | undefined;
  readonly role: Role;
  readonly term: Term;
  readonly leader: MemberId | undefined;
  /** Where the leader says that it can be reached. */
  readonly leaderAddress: string | undefined;
  /** While no leader is known: where the candidate can be reached that has this node's vote in this term. */
  readonly candidateAddress: string | undefined;
  readonly commitIndex: Index;
  readonly appliedIndex: Index;
  readonly lastIndex: Index;
  readonly durableIndex: Index;
  /** The log begins after this entry. */
  readonly compactedIndex: Index;
  /** Undefined where none was taken yet. */
  readonly snapshot: SnapshotStatus | undefined;
  /** A snapshot of a peer brings this node up to date: it does not serve reads meanwhile. */
  readonly isBehind: boolean;
  readonly configuration: Configuration | undefined;
  /** Of the entry that set the configuration; 0: it is the one of birth. */
  readonly configurationIndex: Index;
  /** Of the committed entry that removed this node, as far as its own log goes: it may be a member again since. */
  readonly removedAt: Index | undefined;
  /** Set while the node is mute. */
  readonly floor: Floor | undefined;
  readonly boot: number;
  readonly peers: readonly PeerStatus[];
  /** Sentences about what keeps this node from taking part, newest last; empty on a healthy node. */
  readonly complaints: readonly string[];
}

/** Typed events, for observation only. */
export type NodeEvent =
  | { readonly kind: "born"; readonly clusterId: string }
  | {
      readonly kind: "roleChanged";
      readonly role: Role;
      readonly term: Term;
      readonly leader: MemberId | undefined;
    }
  /** `configuration` is in force on this node: the newest in its log, committed or not. */
  | {
      readonly kind: "membershipChanged";
      readonly index: Index;
      readonly configuration: Configuration;
    }
  /** By this node's own log its removal is committed, by the entry of this index. */
  | { readonly kind: "removed"; readonly index: Index }
  | SnapshotEvent
  | { readonly kind: "peerLinked"; readonly peer: NodeId }
  | { readonly kind: "peerLost"; readonly peer: NodeId; readonly reason: string };

export interface RaftNode<Result> {
  readonly member: MemberId;
  /**
   * Replicates `data` as a command and resolves with what the state machine made of it.
   *
   * Rejects `NOT_LEADER`, `OVERLOADED` or `UNAVAILABLE` (not born, mute, closing) with outcome none; `PROPOSAL_LOST`
   * with outcome none when another entry took its place, with outcome unknown when leadership went while it was
   * under way; `CLOSED` or `ABORTED` with outcome unknown. `data` must not be written to afterwards.
   */
  propose(data: Uint8Array, options?: WaitOptions): Promise<Applied<Result>>;
  /**
   * Resolves once this node has applied everything that was committed when it was called: what is read from the
   * state machine in the same turn is linearizable. Rejects `NOT_LEADER` (no leader known or leadership lost),
   * `OVERLOADED`, `UNAVAILABLE`, `CLOSED` or `ABORTED`. The same promise for all who ask, without a signal, before the
   * node's next turn.
   */
  readIndex(options?: WaitOptions): Promise<ReadPoint>;
  /**
   * Changes who belongs to the cluster, all `changes` in one step, and resolves with the configuration that is then in
   * force and committed. Who is added as a voter comes in as a learner and is promoted later, when it has caught up.
   *
   * Rejects `CHANGE_REFUSED` with the reason, and nothing happened; `NOT_LEADER`, `UNAVAILABLE` or `OVERLOADED`
   * likewise; `PROPOSAL_LOST`, `CLOSED` or `ABORTED` with outcome unknown: list the members to see.
   */
  changeMembers(changes: readonly MemberChange[], options?: ChangeOptions): Promise<ConfigurationAt>;
  /**
   * Hands leadership to another voter; resolves when one leads. Writes wait meanwhile, and go on here or there.
   *
   * Rejects `NOT_LEADER`, `INVALID_ARGUMENT` (the target is no voter), `TRANSFER_FAILED` (nobody else has a vote, or
   * nobody took over within an election timeout), `UNAVAILABLE`, `CLOSED` or `ABORTED`. Source: Dissertation §3.10.
   */
  transferLeadership(options?: TransferOptions): Promise<Succession>;
  /**
   * Hands leadership over if this node has it and somebody can take it, and waits until the successor serves, all
   * within one election timeout. Never rejects.
   * `close` begins with it; called before, this node can still tell its clients who leads now.
   */
  retire(): Promise<void>;
  status(): NodeStatus;
  /** Calls `listener` with each event until the returned function is called. Listeners must not throw. */
  observe(listener: (event: NodeEvent) => void): () => void;
  /** Resolves when the node was closed by `close`; rejects with why when it had to stop by itself. */
  readonly closed: Promise<void>;
  /** Hands leadership over, ends every waiter, closes links and log. Idempotent. */
  close(): Promise<void>;
}
