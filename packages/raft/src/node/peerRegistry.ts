/**
 * What a node knows of its peers beside Raft: who may speak to it, what they have shown, where they are.
 *
 * The judgement (`judge`) is made on a hello, before anything of the peer is decoded, and changes nothing when it
 * refuses.
 */
import type { MembershipView } from "../core/contract.ts";
import { isMember, membersOf } from "../core/quorum.ts";
import {
  type Configuration,
  incarnationOf,
  type Member,
  type MemberId,
  type NodeId,
  nodeIdOf,
} from "../core/types.ts";
import type { PeerAddress } from "../ports/birthMessages.ts";
import type { LogStore, PeerHello, PeerTarget, Refusal } from "../ports/index.ts";

/** See `MachineVersions`. */
export interface MachineGate {
  readonly required: () => number;
  readonly complain: (sentence: string) => void;
}

export class PeerRegistry {
  readonly #log: LogStore;
  readonly #self: MemberId;
  readonly #configured: readonly PeerAddress[];
  readonly #gate: MachineGate;
  /** The newest hello of each peer. */
  readonly #hellos = new Map<MemberId, PeerHello>();
  readonly #linked = new Set<MemberId>();

  /** The configuration in force, and with whom to keep links; undefined before the core runs. */
  #view: MembershipView | undefined;
  /** Strangers of whom a connection ended and nothing was heard since. */
  readonly #away = new Set<MemberId>();

  constructor(
    log: LogStore,
    self: MemberId,
    configured: readonly PeerAddress[],
    gate: MachineGate = { required: () => 1, complain: () => {} },
  ) {
    this.#gate = gate;
    this.#log = log;
    this.#self = self;
    this.#configured = configured;
  }

  membershipChanged(view: MembershipView): void {
    this.#view = view;
  }

  /** It belongs to this cluster and greeted this node, but is no member by its log: it left, or came in later. */
  isStranger(member: MemberId): boolean {
    const { standing } = this.#log;
    if (standing.kind !== "born" || this.isMember(member)) return false;
    return this.#hellos.get(member)?.clusterId === standing.birth.clusterId;
  }

  /** Whether the configuration in force names it. */
  isMember(member: MemberId): boolean {
    return this.#configuration !== undefined && isMember(this.#configuration, member);
  }

  get #configuration(): Configuration | undefined {
    const { standing } = this.#log;
    if (standing.kind !== "born") return undefined;
    return this.#view?.inForce.configuration ?? standing.birth.configuration;
  }

  judge(peer: PeerHello): Refusal | undefined {
    const name = nodeIdOf(peer.member);
    if (peer.member === this.#self)
      return refuse("self", `this is ${name} itself; its own address is listed for a peer`);
    if (name === nodeIdOf(this.#self)) {
      return refuse("sameName", `this node is called ${name} too; two nodes of a cluster need two ids`);
    }
    return this.#judgeCluster(peer, name) ?? this.#judgeAge(peer, name) ?? this.#judgeMachine(peer, name);
  }

  #judgeMachine({ machine }: PeerHello, name: NodeId): Refusal | undefined {
    const required = this.#gate.required();
    return machine >= required ? undefined : refuse("oldMachine", outdatedSentence(name, machine, required));
  }

  /**
   * It was admitted, and by now entries are of a newer version than it knows: it is sent nothing, and what it says is
   * not heard. So it is with one that has not greeted this node yet, of which nothing can be said: it may just be away.
   */
  isOutdated(peer: MemberId): boolean {
    const required = this.#gate.required();
    if (required === 1) return false;
    const known = this.machineOf(peer);
    if (known === undefined) return true;
    if (known >= required) return false;
    this.#gate.complain(`${outdatedSentence(nodeIdOf(peer), known, required)}.`);
    return true;
  }

  /** The newest version of the machine that it has shown; undefined where it never greeted this node. */
  machineOf(peer: MemberId): number | undefined {
    return this.#hellos.get(peer)?.machine;
  }

  #judgeCluster(peer: PeerHello, name: NodeId): Refusal | undefined {
    const { standing } = this.#log;
    if (standing.kind !== "born") return undefined;
    const { clusterId } = standing.birth;
    if (peer.clusterId !== undefined) {
      if (peer.clusterId === clusterId) return undefined;
      return refuse(
        "otherCluster",
        `${name} belongs to cluster ${peer.clusterId}, this node to cluster ${clusterId}; ` +
          "check the addresses in --peers and the data directory",
      );
    }
    if (this.isMember(peer.member)) return undefined;
    const known = this.#members.find((member) => nodeIdOf(member.id) === name);
    if (known === undefined) {
      return refuse(
        "notMember",
        `${name} is not a member of cluster ${clusterId}; start it with --join and the address of a member to add it`,
      );
    }
    return refuse(
      "otherIncarnation",
      `${name} is a member with the data directory of incarnation ${incarnationOf(known.id)}, and this one, of ` +
        `incarnation ${incarnationOf(peer.member)}, is new or was wiped: what ${name} had promised is not in it, ` +
        "so it stays out. Put the old directory back if it still exists, or start it with --join and the address of " +
        "another member, to take its own place as a new member; the others go on without it",
    );
  }

  get #members(): readonly Member[] {
    return this.#configuration === undefined ? [] : membersOf(this.#configuration);
  }

  #judgeAge(peer: PeerHello, name: NodeId): Refusal | undefined {
    const seen = this.#log.seen.get(peer.member);
    // Hellos of one start may overtake each other; another start opened the directory anew, which raised both.
    if (seen === undefined || seen.start === peer.start) return undefined;
    if (peer.boot > seen.boot && peer.sequence > seen.sequence) return undefined;
    return refuse(
      "rolledBack",
      `${name} shows boot ${peer.boot} and write ${peer.sequence} at a new start, but boot ${seen.boot} and write ` +
        `${seen.sequence} were seen of an earlier one, and each start shows more: its data directory is an older copy ` +
        "and lacks what was promised later, so it stays out. Give it the newest directory, and not this copy again; " +
        "the other members go on without it",
    );
  }

  /** After it was admitted. */
  greeted(peer: PeerHello): void {
    this.#away.delete(peer.member);
    this.#hellos.set(peer.member, peer);
  }

  linked(peer: PeerHello): void {
    this.greeted(peer);
    this.#linked.add(peer.member);
  }

  unlinked(peer: MemberId): void {
    this.#linked.delete(peer);
  }

  /** A connection with it ended, in either direction. True where the targets are others now. */
  lost(peer: MemberId): boolean {
    if (!this.isMember(this.#self) || !this.isStranger(peer)) return false;
    this.#away.add(peer);
    return true;
  }

  /** It said something. True where the targets are others now. */
  heard(peer: MemberId): boolean {
    return this.#away.size > 0 && this.#away.delete(peer);
  }

  isLinked(peer: MemberId): boolean {
    return this.#linked.has(peer);
  }

  /** Undefined where no link to it stands. */
  priorityOf(peer: MemberId): number | undefined {
    return this.#linked.has(peer) ? this.#hellos.get(peer)?.priority : undefined;
  }

  /** A link made before either side was born does not outlive the founding of two clusters. */
  isOfOtherCluster(peer: MemberId): boolean {
    const { standing } = this.#log;
    const theirs = this.#hellos.get(peer)?.clusterId;
    return standing.kind === "born" && theirs !== undefined && theirs !== standing.birth.clusterId;
  }

  /** Where a member can be reached: what it says itself, else what this node was told, else what the log says. */
  addressOf(member: MemberId): string | undefined {
    return (
      this.#hellos.get(member)?.address ??
      this.#configured.find((peer) => peer.nodeId === nodeIdOf(member))?.address ??
      this.#members.find(({ id }) => id === member)?.address
    );
  }

  /** What this node was told at its start and the log says otherwise. */
  differences(): readonly { readonly peer: NodeId; readonly given: string; readonly inLog: string }[] {
    return this.#configured.flatMap(({ nodeId, address }) => {
      const inLog = this.#members.find(({ id }) => nodeIdOf(id) === nodeId)?.address ?? "not a member";
      return inLog === address ? [] : [{ peer: nodeId, given: address, inLog }];
    });
  }

  /** The nodes to keep links to, and where each may be. Who they are comes from the log as soon as there is a birth. */
  targets(): readonly PeerTarget[] {
    const own = nodeIdOf(this.#self);
    const addresses = new Map<NodeId, string[]>();
    const members = this.#linkedMembers()?.map((member) => this.#placeOf(member)) ?? this.#configured;
    for (const { nodeId, address } of members) {
      const known = addresses.get(nodeId) ?? [];
      if (nodeId !== own && !known.includes(address)) addresses.set(nodeId, [...known, address]);
    }
    return [...addresses].map(([nodeId, list]) => ({ nodeId, addresses: list }));
  }

  /**
   * A founding member is looked for where this node was told at its start, since nodes move and whoever answers has to
   * prove who it is. Who came or moved by a change of the membership is where the log says.
   */
  #placeOf({ id, address }: Member): PeerAddress {
    const { standing } = this.#log;
    const nodeId = nodeIdOf(id);
    const founders = standing.kind === "born" ? standing.birth.configuration.voters : [];
    const isUnmoved = founders.some((founder) => founder.id === id && founder.address === address);
    const told = isUnmoved ? this.#configured.find((peer) => peer.nodeId === nodeId)?.address : undefined;
    return { nodeId, address: told ?? address };
  }

  /**
   * And strangers, as long as they are there: one may have come in, and lead or stand for election by now, while this
   * node was away, and can only be answered over a link.
   */
  #linkedMembers(): readonly Member[] | undefined {
    const { standing } = this.#log;
    if (standing.kind !== "born") return undefined;
    const members = this.#view?.linked ?? membersOf(standing.birth.configuration);
    const { clusterId } = standing.birth;
    const greeted = [...this.#hellos.values()].filter(
      (hello) =>
        hello.clusterId === clusterId && !this.isMember(hello.member) && !this.#away.has(hello.member),
    );
    return [...members, ...greeted.map(({ member, address }) => ({ id: member, address }))];
  }
}

function outdatedSentence(name: NodeId, known: number, required: number): string {
  return (
    `${name} runs a release that knows version ${known} of the state machine, and this cluster's entries are of ` +
    `version ${required}: it would misread them, so it stays out. Upgrade it; its directory is as it should be`
  );
}

function refuse(code: string, sentence: string): Refusal {
  return { kind: "refuse", code, reason: `${sentence}.` };
}
