/**
 * A leader without a quorum to ask: it commits what is proposed at once, or holds it, or loses it, as a test says.
 */
import type { CommandResult } from "@quorate/client/protocol";
import {
  type Applied,
  asIndex,
  asTerm,
  type ChangeOptions,
  type Configuration,
  type ConfigurationAt,
  type Index,
  type MemberChange,
  type NodeEvent,
  type NodeId,
  type NodeStatus,
  QuorateError,
  type RaftNode,
  type ReadPoint,
  type StateMachine,
  type Succession,
  type TransferOptions,
  votersOnly,
} from "@quorate/raft";
import { member } from "../transport/world.ts";

export class FakeRaftNode implements RaftNode<CommandResult> {
  readonly member = member("a");
  readonly closed: Promise<void> = new Promise(() => {});
  readonly proposed: Uint8Array[] = [];
  reads = 0;
  /** Decides what happens to a proposal; undefined: it is committed and applied at once. */
  onPropose: () => Promise<void> | undefined = () => undefined;
  onRead: () => Promise<void> | undefined = () => undefined;
  onChange: () => Promise<void> | undefined = () => undefined;
  readonly changes: { readonly changes: readonly MemberChange[]; readonly ifIndex: Index | undefined }[] = [];
  configuration: Configuration | undefined;
  removedAt: Index | undefined;
  leaderAddress: string | undefined;
  candidateAddress: string | undefined;
  readonly #machine: StateMachine<CommandResult>;
  readonly #listeners = new Set<(event: NodeEvent) => void>();
  #nextRead: Promise<ReadPoint> | undefined;
  #index = 0;
  #term = 1;
  #leads = true;

  constructor(machine: StateMachine<CommandResult>) {
    this.#machine = machine;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  async propose(data: Uint8Array): Promise<Applied<CommandResult>> {
    this.proposed.push(data);
    const term = asTerm(this.#term);
    if (!this.#leads) throw new QuorateError("NOT_LEADER", "This node does not lead.", { retryable: true });
    await this.onPropose();
    return this.commit(data, term);
  }

  commit(data: Uint8Array, term = asTerm(this.#term)): Applied<CommandResult> {
    this.#index += 1;
    const index = asIndex(this.#index);
    return { index, term, result: this.#machine.apply({ index, term, kind: "command", data }) };
  }

  /** Its turn comes with the next microtask: whoever asks before shares the answer. */
  readIndex(): Promise<ReadPoint> {
    this.#nextRead ??= this.#read();
    return this.#nextRead;
  }

  async #read(): Promise<ReadPoint> {
    this.reads += 1;
    const term = asTerm(this.#term);
    const asLeader = this.#leads;
    await undefined;
    this.#nextRead = undefined;
    await this.onRead();
    return { index: asIndex(this.#index), term, asLeader };
  }

  async transferLeadership({ target = "b" }: TransferOptions = {}): Promise<Succession> {
    if (!this.#leads) throw new QuorateError("NOT_LEADER", "This node does not lead.", { retryable: true });
    this.turnTo(this.#term + 1, false);
    return { leader: target as NodeId, term: asTerm(this.#term) };
  }

  retire(): Promise<void> {
    return Promise.resolve();
  }

  /** Another term begins, led by this node or not. */
  turnTo(term: number, leads: boolean): void {
    this.#term = term;
    this.#leads = leads;
    const event: NodeEvent = {
      kind: "roleChanged",
      role: leads ? "leader" : "follower",
      term: asTerm(term),
      leader: leads ? this.member : undefined,
    };
    for (const listener of this.#listeners) listener(event);
  }

  removeAt(index: number): void {
    this.removedAt = asIndex(index);
    for (const listener of this.#listeners) listener({ kind: "removed", index: this.removedAt });
  }

  async changeMembers(
    changes: readonly MemberChange[],
    { ifIndex }: ChangeOptions = {},
  ): Promise<ConfigurationAt> {
    this.changes.push({ changes, ifIndex });
    await this.onChange();
    return { index: asIndex(this.#index), configuration: this.configuration ?? votersOnly([]) };
  }

  status(): NodeStatus {
    return {
      member: this.member,
      standing: "born",
      waitsFor: undefined,
      clusterId: "0123456789abcdef0123456789abcdef",
      role: this.#leads ? "leader" : "follower",
      term: asTerm(this.#term),
      leader: this.#leads ? this.member : undefined,
      leaderAddress: this.leaderAddress,
      candidateAddress: this.candidateAddress,
      commitIndex: asIndex(this.#index),
      appliedIndex: asIndex(this.#index),
      lastIndex: asIndex(this.#index),
      durableIndex: asIndex(this.#index),
      compactedIndex: asIndex(0),
      snapshot: undefined,
      isBehind: false,
      configuration: this.configuration,
      configurationIndex: asIndex(this.#index),
      removedAt: this.removedAt,
      floor: undefined,
      boot: 1,
      peers: [],
      complaints: [],
    };
  }

  observe(listener: (event: NodeEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** A promise that is settled from outside. */
export class Gate {
  open!: () => void;
  fail!: (error: Error) => void;
  readonly promise: Promise<void> = new Promise((resolve, reject) => {
    this.open = resolve;
    this.fail = reject;
  });
}
