/**
 * The messages by which a cluster is born, as positional arrays. Rare, so clarity comes before bytes.
 *
 * Lists are bounded and name each node once: a configuration with a voter twice would count a vote twice.
 */
import { type Configuration, type Member, type PeerMessage, unreachable, votersOnly } from "@quorate/raft";
import { maxListedNodes, maxReasonLength } from "../limits.ts";
import { asText, isAddress, isClusterId, isListOf, isMember, isNode, isText, isTuple } from "./fields.ts";
import { tags } from "./tags.ts";

type Of<Kind extends PeerMessage["kind"]> = Extract<PeerMessage, { kind: Kind }>;
type BirthMessage = Of<"birthQuery" | "birthPromise" | "birthRefusal" | "birthNotice" | "birthAck">;
type PeerAddresses = Of<"birthQuery">["peers"];

export function writeBirthMessage(message: BirthMessage): unknown[] {
  switch (message.kind) {
    case "birthQuery":
      return [tags.birthQuery, writePeers(message.peers)];
    case "birthPromise":
      return [tags.birthPromise, message.founder, writePeers(message.peers)];
    case "birthRefusal":
      return [tags.birthRefusal, asText(message.reason, maxReasonLength)];
    case "birthNotice": {
      const { clusterId, configuration } = message.birth;
      return [tags.birthNotice, clusterId, configuration.voters.map(({ id, address }) => [id, address])];
    }
    case "birthAck":
      return [tags.birthAck, message.clusterId];
    default:
      return unreachable(message);
  }
}

function writePeers(peers: PeerAddresses): unknown[] {
  return peers.map(({ nodeId, address }) => [nodeId, address]);
}

export function readBirthMessage(fields: readonly unknown[]): BirthMessage | undefined {
  switch (fields[0]) {
    case tags.birthQuery: {
      const peers = readPeers(fields[1]);
      return peers === undefined || fields.length !== 2 ? undefined : { kind: "birthQuery", peers };
    }
    case tags.birthPromise: {
      const [, founder, list] = fields;
      const peers = readPeers(list);
      if (peers === undefined || fields.length !== 3 || !isMember(founder)) return undefined;
      return { kind: "birthPromise", founder, peers };
    }
    case tags.birthRefusal: {
      const [, reason] = fields;
      if (fields.length !== 2 || !isText(reason, maxReasonLength)) return undefined;
      return { kind: "birthRefusal", reason };
    }
    case tags.birthNotice: {
      const [, clusterId, voters] = fields;
      const configuration = readConfiguration(voters);
      if (configuration === undefined || fields.length !== 3 || !isClusterId(clusterId)) return undefined;
      return { kind: "birthNotice", birth: { clusterId, configuration } };
    }
    case tags.birthAck: {
      const [, clusterId] = fields;
      return fields.length === 2 && isClusterId(clusterId) ? { kind: "birthAck", clusterId } : undefined;
    }
    default:
      return undefined;
  }
}

type Pair<Name> = readonly [Name, string];

function readPeers(value: unknown): PeerAddresses | undefined {
  const isPair = (item: unknown): item is Pair<Of<"birthQuery">["peers"][number]["nodeId"]> =>
    isTuple(item, 2) && isNode(item[0]) && isAddress(item[1]);
  if (!isListOf(value, maxListedNodes, isPair) || !namesEachOnce(value)) return undefined;
  return value.map(([nodeId, address]) => ({ nodeId, address }));
}

function readConfiguration(value: unknown): Configuration | undefined {
  const isPair = (item: unknown): item is Pair<Member["id"]> =>
    isTuple(item, 2) && isMember(item[0]) && isAddress(item[1]);
  if (!isListOf(value, maxListedNodes, isPair) || !namesEachOnce(value)) return undefined;
  return value.length === 0 ? undefined : votersOnly(value.map(([id, address]) => ({ id, address })));
}

function namesEachOnce(pairs: readonly Pair<string>[]): boolean {
  return new Set(pairs.map(([name]) => name)).size === pairs.length;
}
