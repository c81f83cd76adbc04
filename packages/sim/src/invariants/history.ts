/**
 * What happened in the whole cluster so far: the global history that the invariants are checked against.
 *
 * It lives outside the nodes and survives their crashes. It is never told what should be so, only what was seen: what
 * was sent, written, committed and applied. The first violation is kept, and ends the run.
 */
import {
  type Configuration,
  type ConfigurationAt,
  decodeConfiguration,
  type Floor,
  type Index,
  type MemberId,
  type Persist,
  type RaftState,
  type Role,
  type SnapshotHeader,
  type Term,
} from "@quorate/raft";
import { mixBytes, mixName, mixNumber } from "../world/mix.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Trace } from "../world/trace.ts";

/** Names as in ARCHITECTURE.md; each is explained where it is checked. */
export type InvariantName =
  | "election safety"
  | "one vote per term"
  | "persisted before sent"
  | "terms only rise"
  | "commit index only rises"
  | "leader appends only"
  | "log matching"
  | "commit rule"
  | "membership"
  | "commit agreement"
  | "leader completeness"
  | "state machine safety"
  | "index order"
  | "follower commit bound"
  | "linearizable reads"
  | "mute members are silent"
  | "identity"
  | "durability"
  | "exactly once"
  | "complete watches"
  | "replica equality"
  | "lease exclusion"
  | "lease terms rise"
  | "lease deadline"
  | "fencing"
  | "snapshot equivalence"
  | "no false refusal"
  | "no unexpected stop"
  | LivenessName
  | "liveness"
  | "determinism"
  | "machine invariant"
  | "linearizability";

/** Of a core that was healed while the rest stays broken; the numbers are those of the catalogue. */
export type LivenessName =
  | "L1 stable leader"
  | "L2 service"
  | "L3 convergence"
  | "L4 no election storm"
  | "L7 deaf leader steps down"
  | "L10 membership settles"
  | "L11 quiet catch-up"
  | "L13 no probing loop"
  | "L14 no busy loop"
  | "L15 nothing left pending"
  | "L16 restart of all"
  | "L17 leases pass on";

export interface Violation {
  readonly invariant: InvariantName;
  readonly atMs: number;
  /** Who, what, and the numbers. */
  readonly sentence: string;
  /** What a user's own code threw, with its call stack. */
  readonly cause?: unknown;
}

/** An entry as the history knows it: the chain value covers it and everything before it. */
export interface ChainLink {
  readonly index: number;
  readonly term: number;
  readonly hash: number;
}

/** One that was seen, and which members ever held it durably: the bits of them. */
interface SeenLink extends ChainLink {
  heldBy: number;
}

export interface Committed extends ChainLink {
  /** The term of the node that first reported it committed, **not** the entry's. */
  readonly commitTerm: number;
}

/** What is durable of one member, and what was seen of it. */
export interface MemberHistory {
  readonly member: MemberId;
  /** A bit of its own, for sets of members. */
  readonly bit: number;
  term: number;
  vote: MemberId | undefined;
  floor: Floor | undefined;
  /** The entry at index i is at i - 1. */
  log: ChainLink[];
  writing: Persist | undefined;
  /** A snapshot that its log store puts in the place of the log just now. */
  installing: SnapshotHeader | undefined;
  /** What its machine is restored from next. */
  restoring: SnapshotHeader | undefined;
  /** The index of the newest one that it was known to keep. */
  newestSnapshot: number;
  /** It took that one itself in this start, over another one. */
  hasOlderSnapshot: boolean;
  votes: Map<number, MemberId>;
  maxTermSent: number;
  /** Messages to peers, and rejected appends among them. */
  sent: number;
  rejections: number;
  /** Snapshots that it began to send, as a leader. */
  transfers: number;
  /** The transfer of which a peer was last sent content. */
  chunks: Map<MemberId, string>;
  /** Of this start; undefined while it does not run. */
  state: RaftState | undefined;
  seenTerm: number;
  /** Of the step before. */
  seenRole: Role;
  /** As far as its log store says: an unborn node is no member yet. */
  isBorn: boolean;
  /** As a leader, what it knew of each follower. */
  matches: Map<MemberId, { readonly session: number; readonly match: number }>;
  seenCommit: number;
  appliedIndex: number;
  leadsTerm: number;
  leaderLastIndex: number;
  leaderLastTerm: number | undefined;
  /** In force on it after the step before; undefined before the first one of this start. */
  inForce: ConfigurationAt | undefined;
}

/** Where a change by way of a joint configuration stands. */
export const memberPhases = ["jointAppended", "jointCommitted", "leaveAppended"] as const;

export type MemberPhase = (typeof memberPhases)[number];

/** What a member does with a snapshot, from its beginning. */
export const snapshotPhases = ["taking", "receiving", "installing"] as const;

export type SnapshotPhase = (typeof snapshotPhases)[number];

export class History {
  readonly violations: Violation[] = [];
  readonly marks: Map<string, number> = new Map();
  readonly members: Map<MemberId, MemberHistory> = new Map();
  readonly leaders: Map<number, MemberId> = new Map();
  /** The entry at index i is at i - 1. */
  readonly committed: Committed[] = [];
  /** The highest index committed by a node of this term, by commit term. */
  readonly committedIn: Map<number, number> = new Map();
  /** The newest committed configuration; undefined before anybody was born. */
  configuration: ConfigurationAt | undefined;
  /** The committed ones, in order. */
  private readonly settled: ConfigurationAt[] = [];
  /** Told of each phase of a joint change, and of the member at which it was seen first. */
  onPhase: ((phase: MemberPhase, member: MemberId) => void) | undefined;
  /** Told when a member begins this with a snapshot. */
  onSnapshot: ((phase: SnapshotPhase, member: MemberId) => void) | undefined;
  private readonly configurations = new Map<ChainLink, Configuration>();
  private readonly chain = new Map<number, SeenLink>();
  readonly timeline: Timeline;
  readonly trace: Trace;

  constructor(timeline: Timeline, trace: Trace) {
    this.timeline = timeline;
    this.trace = trace;
  }

  get commitIndex(): number {
    return this.committed.length;
  }

  fail(invariant: InvariantName, sentence: string, cause?: unknown): void {
    const violation = { invariant, atMs: this.timeline.nowMs, sentence };
    this.violations.push(cause === undefined ? violation : { ...violation, cause });
    this.trace.note("!!", `${invariant}: ${sentence}`);
  }

  require(condition: boolean, invariant: InvariantName, sentence: () => string): void {
    if (!condition) this.fail(invariant, sentence());
  }

  /** Something interesting was reached. */
  mark(name: string): void {
    this.marks.set(name, (this.marks.get(name) ?? 0) + 1);
  }

  of(member: MemberId): MemberHistory {
    let known = this.members.get(member);
    if (known === undefined) {
      known = {
        member,
        bit: 1 << (this.members.size % 31),
        term: 0,
        vote: undefined,
        floor: undefined,
        log: [],
        writing: undefined,
        installing: undefined,
        restoring: undefined,
        newestSnapshot: 0,
        hasOlderSnapshot: false,
        votes: new Map(),
        maxTermSent: 0,
        sent: 0,
        rejections: 0,
        transfers: 0,
        chunks: new Map(),
        state: undefined,
        seenTerm: 0,
        seenRole: "follower",
        isBorn: false,
        matches: new Map(),
        seenCommit: 0,
        appliedIndex: 0,
        leadsTerm: -1,
        leaderLastIndex: 0,
        leaderLastTerm: undefined,
        inForce: undefined,
      };
      this.members.set(member, known);
    }
    return known;
  }

  /** The link at (index, term), if any log or message ever held it. */
  link(index: number, term: number): ChainLink | undefined {
    return index === 0 ? origin : this.chain.get(entryKey(index, term));
  }

  /**
   * Log matching: an entry is known by its index and term, and so is everything before it. The first sight of one
   * fixes its chain value; every later one must agree.
   */
  saw(before: ChainLink, entry: SeenEntry, who: MemberId, deed: string): ChainLink {
    const position = mixNumber(mixNumber(before.hash, before.term), entry.term);
    const hash = mixBytes(mixName(position, entry.kind), entry.data);
    const key = entryKey(entry.index, entry.term);
    const known = this.chain.get(key);
    if (known === undefined) {
      const link = { index: entry.index, term: entry.term, hash, heldBy: 0 };
      this.chain.set(key, link);
      if (entry.kind === "configuration") this.sawConfiguration(link, entry.data);
      return link;
    }
    if (known.hash !== hash) {
      this.fail(
        "log matching",
        `${who} ${deed}: the entry at ${entry.index} of term ${entry.term}, or one before it, differs from the one ` +
          "that was seen under that index and term before",
      );
    }
    return known;
  }

  /** It is committed, and all before it are. */
  settle(configuration: ConfigurationAt): void {
    this.configuration = configuration;
    this.settled.push(configuration);
  }

  /** Committed at or before `index`, the newest. */
  configurationAt(index: number): ConfigurationAt | undefined {
    return this.settled.findLast((one) => one.index <= index);
  }

  private sawConfiguration(link: ChainLink, data: Uint8Array): void {
    const configuration = decodeConfiguration(data);
    if (configuration !== undefined) this.configurations.set(link, configuration);
  }

  /** Those after entry `index` in the member's log, durable or not. */
  configurationsAfter(member: MemberHistory, index: number): readonly Configuration[] {
    const found = new Set<Configuration>();
    for (const link of member.log.slice(index)) {
      const configuration = this.configurations.get(link);
      if (configuration !== undefined) found.add(configuration);
    }
    for (const one of member.state?.log.configurations ?? []) {
      if (one.index > index) found.add(one.configuration);
    }
    return [...found];
  }

  held(member: MemberHistory, link: ChainLink): void {
    const seen = this.chain.get(entryKey(link.index, link.term));
    if (seen !== undefined) seen.heldBy |= member.bit;
  }

  /** Whether the member ever held the entry durably, whatever became of it later. */
  hasHeld(member: MemberHistory, index: number, term: number): boolean {
    return ((this.chain.get(entryKey(index, term))?.heldBy ?? 0) & member.bit) !== 0;
  }
}

export interface SeenEntry {
  readonly index: Index;
  readonly term: Term;
  readonly kind: string;
  readonly data: Uint8Array;
}

const origin: ChainLink = { index: 0, term: 0, hash: 1 };

function entryKey(index: number, term: number): number {
  return index * 0x10_0000 + term;
}

export function lastLink(log: readonly ChainLink[]): ChainLink {
  return log[log.length - 1] ?? origin;
}

export function linkAt(log: readonly ChainLink[], index: number): ChainLink | undefined {
  return index === 0 ? origin : log[index - 1];
}
