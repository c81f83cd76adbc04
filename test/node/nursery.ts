/** Nodes that are about to be born, or are told of their birth, without network and disk. */
import {
  type Birth,
  type BirthMessage,
  type LogStore,
  type MemberId,
  memberId,
  type NodeId,
  QuorateError,
  type Standing,
} from "@quorate/raft";
import { BirthProcess } from "@quorate/raft/internal";
import { manyTimers } from "../client/manyTimers.ts";
import { emptyRestored } from "./restored.ts";

export interface Node {
  readonly member: MemberId;
  readonly log: LogStore & { standing: Standing };
  readonly process: BirthProcess;
  readonly complaints: string[];
  readonly births: Birth[];
}

export interface Parcel {
  readonly from: MemberId;
  readonly to: MemberId;
  readonly message: BirthMessage;
}

/** Nothing here may come near a snapshot. */
function unexpected(): never {
  throw new Error("a birth is without snapshots");
}

export function fakeLog(nodeId: string, incarnation: string): LogStore & { standing: Standing } {
  const log = {
    identity: { nodeId: nodeId as NodeId, incarnation },
    boot: 1,
    sequence: 1,
    standing: { kind: "unborn", promisedTo: undefined } as Standing,
    seen: new Map(),
    promise(founder: MemberId): Promise<void> {
      if (log.standing.kind !== "unborn") return Promise.reject(new QuorateError("REFUSED", "Not unborn."));
      log.standing = { kind: "unborn", promisedTo: founder };
      return Promise.resolve();
    },
    bear(birth: Birth) {
      const restored = emptyRestored(birth.configuration);
      log.standing = { kind: "born", birth, restored };
      return Promise.resolve(restored);
    },
    write: () => Promise.resolve(),
    read: () => Promise.resolve([]),
    get snapshots() {
      return unexpected();
    },
    compact: unexpected,
    install: unexpected,
    remember: () => Promise.resolve(),
    quarantine: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  return log;
}

export class Nursery {
  readonly clock = manyTimers();
  /** What stopped a node. */
  readonly failures: unknown[] = [];
  readonly nodes = new Map<MemberId, Node>();
  readonly queue: Parcel[] = [];
  #draws = 0;

  /** `joins`: the cluster that it was added to; `members`: who belongs to that cluster now, beside the founders. */
  add(
    name: string,
    list: readonly string[],
    incarnation = "0000000000000001",
    { joins, members = [] }: { joins?: string; members?: readonly MemberId[] } = {},
  ): Node {
    const member = memberId(name as NodeId, incarnation);
    const log = fakeLog(name, incarnation);
    const complaints: string[] = [];
    const births: Birth[] = [];
    const process = new BirthProcess({
      log,
      random: { uint32: () => ++this.#draws },
      self: member,
      peers: [...list].sort().map((nodeId) => ({ nodeId: nodeId as NodeId, address: `ws://${nodeId}` })),
      joins,
      clock: this.clock,
      electionTimeoutMaxMs: 300,
      isMember: (id) => {
        const { standing } = log;
        const isFounder =
          standing.kind === "born" && standing.birth.configuration.voters.some((one) => one.id === id);
        return isFounder || members.includes(id);
      },
      send: (to, message) => this.queue.push({ from: member, to, message }),
      born: (birth) => births.push(birth),
      complain: (sentence) => complaints.push(sentence),
      failed: (error) => void this.failures.push(error),
    });
    const node = { member, log, process, complaints, births };
    this.nodes.set(member, node);
    process.start();
    return node;
  }

  link(from: Node, to: Node): void {
    const { standing } = to.log;
    from.process.linked(to.member, standing.kind === "born" ? standing.birth.clusterId : undefined);
  }

  linkAll(): void {
    for (const a of this.nodes.values()) for (const b of this.nodes.values()) if (a !== b) this.link(a, b);
  }

  /** Until everybody says again what was not answered. */
  async repeat(): Promise<void> {
    await this.clock.pass(200);
  }

  async deliver(keep: (parcel: Parcel) => boolean = () => true): Promise<void> {
    for (let parcel = this.queue.shift(); parcel !== undefined; parcel = this.queue.shift()) {
      if (keep(parcel)) this.nodes.get(parcel.to)?.process.received(parcel.from, parcel.message);
      for (let hop = 0; hop < 5; hop++) await Promise.resolve();
    }
    if (this.failures.length > 0) throw this.failures[0];
  }
}

export function clusterIdOf(node: Node): string | undefined {
  return node.log.standing.kind === "born" ? node.log.standing.birth.clusterId : undefined;
}
