/**
 * What a node knows of its peers beside Raft: who may speak to it, what they have shown, where they are.
 *
 * The judgement (`judge`) is made on a hello, before anything of the peer is decoded, and changes nothing when it
 * refuses.
 */
import { type Configuration, incarnationOf, type MemberId, type NodeId, nodeIdOf } from "../core/types.ts";
import type { PeerAddress } from "../ports/birthMessages.ts";
import type { LogStore, PeerHello, PeerTarget, Refusal } from "../ports/index.ts";

export class PeerRegistry {
  readonly #log: LogStore;
  readonly #self: MemberId;
  readonly #configured: readonly PeerAddress[];
  /** The newest hello of each peer. */
  readonly #hellos = new Map<MemberId, PeerHello>();
  readonly #linked = new Set<MemberId>();

  constructor(log: LogStore, self: MemberId, configured: readonly PeerAddress[]) {
    this.#log = log;
    this.#self = self;
    this.#configured = configured;
  }

  judge(peer: PeerHello): Refusal | undefined {
    const name = nodeIdOf(peer.member);
    if (peer.member === this.#self)
      return refuse("self", `this is ${name} itself; its own address is listed for a peer`);
    if (name === nodeIdOf(this.#self)) {
      return refuse("sameName", `this node is called ${name} too; two nodes of a cluster need two ids`);
    }
    return this.#judgeCluster(peer, name) ?? this.#judgeAge(peer, name);
  }

  #judgeCluster(peer: PeerHello, name: NodeId): Refusal | undefined {
    const { standing } = this.#log;
    if (standing.kind !== "born") return undefined;
    const { clusterId, configuration } = standing.birth;
    if (peer.clusterId !== undefined) {
      if (peer.clusterId === clusterId) return undefined;
      return refuse(
        "otherCluster",
        `${name} belongs to cluster ${peer.clusterId}, this node to cluster ${clusterId}; ` +
          "check the addresses in --peers and the data directory",
      );
    }
    if (configuration.voters.some((voter) => voter.id === peer.member)) return undefined;
    const known = configuration.voters.find((voter) => nodeIdOf(voter.id) === name);
    if (known === undefined) return refuse("notMember", `${name} is not a member of cluster ${clusterId}`);
    return refuse(
      "otherIncarnation",
      `${name} is a member with the data directory of incarnation ${incarnationOf(known.id)}, and this one, of ` +
        `incarnation ${incarnationOf(peer.member)}, is new or was wiped: what ${name} had promised is not in it, ` +
        "so it stays out. Put the old directory back if it still exists; the other members go on without it",
    );
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
    this.#hellos.set(peer.member, peer);
  }

  linked(peer: PeerHello): void {
    this.greeted(peer);
    this.#linked.add(peer.member);
  }

  lost(peer: MemberId): void {
    this.#linked.delete(peer);
  }

  isLinked(peer: MemberId): boolean {
    return this.#linked.has(peer);
  }

  /** A link made before either side was born does not outlive the founding of two clusters. */
  isOfOtherCluster(peer: MemberId): boolean {
    const { standing } = this.#log;
    const theirs = this.#hellos.get(peer)?.clusterId;
    return standing.kind === "born" && theirs !== undefined && theirs !== standing.birth.clusterId;
  }

  /** Where a member can be reached: what it says itself, else what this node was told, else what the log says. */
  addressOf(member: MemberId, configuration: Configuration | undefined): string | undefined {
    return (
      this.#hellos.get(member)?.address ??
      this.#configured.find((peer) => peer.nodeId === nodeIdOf(member))?.address ??
      configuration?.voters.find((voter) => voter.id === member)?.address
    );
  }

  /**
   * The nodes to keep links to. Who they are comes from the log as soon as there is a birth; the address that this
   * node was started with goes first, since whoever answers there has to prove who it is, and nodes move.
   */
  targets(configuration: Configuration | undefined): readonly PeerTarget[] {
    const own = nodeIdOf(this.#self);
    const listed = new Map(this.#configured.map((peer) => [peer.nodeId, peer.address]));
    const members = configuration?.voters.map(({ id, address }) => ({ nodeId: nodeIdOf(id), address }));
    return (members ?? this.#configured)
      .filter((peer) => peer.nodeId !== own)
      .map(({ nodeId, address }) => ({ nodeId, addresses: [listed.get(nodeId) ?? address] }));
  }
}

function refuse(code: string, sentence: string): Refusal {
  return { kind: "refuse", code, reason: `${sentence}.` };
}
