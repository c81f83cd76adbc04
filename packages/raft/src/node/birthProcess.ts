/**
 * How a cluster comes into being, and how a member that has not heard of its birth is told.
 *
 * The node with the lowest id founds, and only when **every** listed node has promised itself, durably, to this very
 * founder. A node that promised itself, or that was a member before, founds nothing and follows no other founder: so
 * two clusters can never come of one list, and a wiped node never founds a second one.
 *
 * Messages may be lost: whatever is not answered is asked again.
 */
import { unreachable } from "../core/invariant.ts";
import { votersOnly } from "../core/quorum.ts";
import { type Configuration, type Member, type MemberId, type NodeId, nodeIdOf } from "../core/types.ts";
import { QuorateError } from "../errors.ts";
import type { BirthMessage, PeerAddress } from "../ports/birthMessages.ts";
import {
  type Birth,
  type Cancel,
  type Clock,
  type LogStore,
  type Random,
  randomHex,
} from "../ports/index.ts";

export interface BirthPorts {
  readonly log: LogStore;
  readonly random: Random;
  readonly self: MemberId;
  /** Every node of the cluster to be, this one included, sorted by id. */
  readonly peers: readonly PeerAddress[];
  /** The cluster that this node was added to: it founds nothing, and takes no other birth. */
  readonly joins: string | undefined;
  readonly clock: Clock;
  readonly electionTimeoutMaxMs: number;
  /** Whether the configuration in force names this member. Asked of a node that is born. */
  isMember(member: MemberId): boolean;
  send(to: MemberId, message: BirthMessage): void;
  /** The directory is a member now. Called once. */
  born(birth: Birth): void;
  complain(sentence: string): void;
  failed(error: unknown): void;
}

const repeatMs = 200;
/** So many election timeouts a node that was added waits to be told of its birth: a leader may be elected meanwhile. */
const toldWithinTimeouts = 10;

export class BirthProcess {
  readonly #ports: BirthPorts;
  /** Reached now and, when last seen, without a cluster. */
  readonly #unborn = new Map<NodeId, MemberId>();
  readonly #promised = new Map<NodeId, MemberId>();
  #bearing = false;
  #cancelWait: Cancel | undefined;
  #cancelRepeat: Cancel | undefined;
  #isStopped = false;

  constructor(ports: BirthPorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#foundWhenAllPromised();
    this.#waitToBeTold();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelWait?.();
    this.#cancelRepeat?.();
  }

  linked(peer: MemberId, clusterId: string | undefined): void {
    if (clusterId !== undefined) this.heardAsMember(peer);
    else {
      this.#unborn.set(nodeIdOf(peer), peer);
      this.#speakTo(peer);
      this.#arrangeRepeat();
    }
  }

  /** There is no way to it: it is told when it is linked again. */
  unlinked(peer: MemberId): void {
    this.heardAsMember(peer);
  }

  /** It spoke as a member: it needs no telling. */
  heardAsMember(peer: MemberId): void {
    if (this.#unborn.size === 0) return; // as for every message of a grown cluster
    if (this.#unborn.get(nodeIdOf(peer)) === peer) this.#unborn.delete(nodeIdOf(peer));
  }

  /** What was lost is said again, until all that it is for have been heard as members. */
  #arrangeRepeat(): void {
    if (this.#cancelRepeat !== undefined || this.#isStopped || this.#unborn.size === 0) return;
    this.#cancelRepeat = this.#ports.clock.after(repeatMs, () => {
      this.#cancelRepeat = undefined;
      this.#speakToAll();
      this.#arrangeRepeat();
    });
  }

  #speakToAll(): void {
    for (const peer of this.#unborn.values()) this.#speakTo(peer);
  }

  received(from: MemberId, message: BirthMessage): void {
    switch (message.kind) {
      case "birthQuery":
        this.#answer(from, message.peers);
        return;
      case "birthPromise":
        this.#takePromise(from, message.founder, message.peers);
        return;
      case "birthRefusal":
        this.#ports.complain(`${nodeIdOf(from)} does not join the founding: ${message.reason}`);
        return;
      case "birthNotice":
        this.#takeNotice(from, message.birth);
        return;
      case "birthAck":
        if (message.clusterId === this.#clusterId) this.heardAsMember(from);
        return;
      default:
        unreachable(message);
    }
  }

  /** Whoever adds it may remove it again before it was told, and it does not hear of that: nobody links to it. */
  #waitToBeTold(): void {
    const { clock, electionTimeoutMaxMs, failed, joins, log, peers, self } = this.#ports;
    if (joins === undefined || log.standing.kind !== "unborn") return;
    const ownAddress = peers.find(({ nodeId }) => nodeId === nodeIdOf(self))?.address;
    const withinMs = toldWithinTimeouts * electionTimeoutMaxMs;
    this.#cancelWait = clock.after(withinMs, () => {
      const sentence =
        `${nodeIdOf(self)} was added to cluster ${joins}, and no member of it said so within ${withinMs} ms: either none ` +
        `can reach it at ${ownAddress}, or it was removed again. It may stand in the list of members still: start it ` +
        `again at an address (--listen) that they reach, or take it out with quorate member remove ${nodeIdOf(self)}.`;
      failed(new QuorateError("TIMED_OUT", sentence, { retryable: true }));
    });
  }

  #speakTo(peer: MemberId): void {
    const { standing } = this.#ports.log;
    if (standing.kind === "born") {
      if (!this.#ports.isMember(peer)) return;
      this.#ports.send(peer, { kind: "birthNotice", birth: standing.birth });
    } else if (this.#isFounder() && this.#promised.get(nodeIdOf(peer)) !== peer) {
      this.#ports.send(peer, { kind: "birthQuery", peers: this.#ports.peers });
    }
  }

  #answer(founder: MemberId, theirs: readonly PeerAddress[]): void {
    const { log, peers, send, failed } = this.#ports;
    // A late question: the notice has overtaken it, and there is nothing to promise any more.
    if (this.#bearing && log.standing.kind === "unborn") return;
    const reason = this.#reasonAgainst(founder, theirs);
    if (reason !== undefined) {
      send(founder, { kind: "birthRefusal", reason });
      return;
    }
    log.promise(founder).then(
      () => send(founder, { kind: "birthPromise", founder, peers }),
      (error: unknown) => {
        // What was written before it, a birth or another promise, may have decided otherwise meanwhile.
        const late = isRefusal(error) ? this.#reasonAgainst(founder, theirs) : undefined;
        if (late === undefined) failed(error);
        else send(founder, { kind: "birthRefusal", reason: late });
      },
    );
  }

  #reasonAgainst(founder: MemberId, theirs: readonly PeerAddress[]): string | undefined {
    const { log, peers } = this.#ports;
    const { standing } = log;
    if (standing.kind === "born") {
      const { clusterId } = standing.birth;
      return `it is a member of cluster ${clusterId} already; a node that was wiped cannot found it again.`;
    }
    if (standing.kind === "lost")
      return "it was a member before and lost the record of it; a member has to tell it.";
    if (this.#ports.joins !== undefined) return `it joins the cluster ${this.#ports.joins}.`;
    if (!sameNodes(peers, theirs)) {
      return `its list of peers is ${list(peers)}, the founder's is ${list(theirs)}; give every node the same list.`;
    }
    if (peers[0]?.nodeId !== nodeIdOf(founder))
      return `only ${String(peers[0]?.nodeId)}, the lowest id, founds.`;
    if (standing.promisedTo !== undefined && standing.promisedTo !== founder) {
      return `it is promised to ${standing.promisedTo}; wipe its data directory, which holds nothing yet.`;
    }
    return undefined;
  }

  #takePromise(from: MemberId, founder: MemberId, theirs: readonly PeerAddress[]): void {
    if (founder !== this.#ports.self || !sameNodes(this.#ports.peers, theirs)) return;
    if (!this.#ports.peers.some((peer) => peer.nodeId === nodeIdOf(from))) return;
    this.#promised.set(nodeIdOf(from), from);
    this.#foundWhenAllPromised();
  }

  #foundWhenAllPromised(): void {
    const { log, peers, random, self } = this.#ports;
    if (log.standing.kind !== "unborn" || this.#bearing || !this.#isFounder()) return;
    const voters: Member[] = [];
    for (const { nodeId, address } of peers) {
      const id = nodeId === nodeIdOf(self) ? self : this.#promised.get(nodeId);
      if (id === undefined) return;
      voters.push({ id, address });
    }
    this.#bear({ clusterId: randomHex(random, 32), configuration: votersOnly(voters) });
  }

  /** Acknowledged whenever it is said again; the first time it may be lost with whoever said it. */
  #takeNotice(from: MemberId, birth: Birth): void {
    const { log, self, send } = this.#ports;
    const { clusterId } = birth;
    if (clusterId === this.#clusterId) send(from, { kind: "birthAck", clusterId });
    if (log.standing.kind === "born" || this.#bearing) return;
    // One that joined is in no birth: what it was a member of is all that it has left to know it by.
    const isOwn = log.standing.kind === "lost" && log.standing.clusterId === clusterId;
    if (isOwn || this.#ports.joins === clusterId || names(birth.configuration, self)) this.#bear(birth);
  }

  get #clusterId(): string | undefined {
    const { standing } = this.#ports.log;
    return standing.kind === "born" ? standing.birth.clusterId : undefined;
  }

  #bear(birth: Birth): void {
    const { log, born, failed } = this.#ports;
    this.#bearing = true;
    this.#cancelWait?.();
    log
      .bear(birth)
      .then(() => {
        born(birth);
        this.#speakToAll();
      })
      .catch(failed);
  }

  #isFounder(): boolean {
    return (
      this.#ports.log.standing.kind === "unborn" &&
      this.#ports.joins === undefined &&
      this.#ports.peers[0]?.nodeId === nodeIdOf(this.#ports.self)
    );
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof QuorateError && error.code === "REFUSED";
}

function names(configuration: Configuration, member: MemberId): boolean {
  return configuration.voters.some((voter) => voter.id === member);
}

/**
 * Ids alone are compared: an address may rightly differ from node to node (names, proxies), and a wrong one is found
 * out by the hello of whoever answers there.
 */
function sameNodes(a: readonly PeerAddress[], b: readonly PeerAddress[]): boolean {
  return a.length === b.length && a.every((peer, position) => peer.nodeId === b[position]?.nodeId);
}

function list(peers: readonly PeerAddress[]): string {
  return peers.map((peer) => peer.nodeId).join(", ");
}
