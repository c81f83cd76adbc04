/**
 * What members show each other when a link is made, as the fields of a hello:
 *
 *     role=peer  protocol=1-1  cluster=9f86…  node=a  incarnation=d081884c7d659a2f  start=60b725f10c9c85c7
 *     boot=4  sequence=1207  address=ws://10.0.0.1:7101  priority=10  machine=2  to=b
 *
 * `cluster` is missing while the node is unborn; `to` is only in the dialler's: whom it means to reach. A release that
 * knows no priorities shows none: it has the lowest, 1. `machine` is the newest version of the state machine that it
 * knows; a release that shows none knows version 1.
 */
import {
  type Hello,
  incarnationOf,
  isIncarnation,
  maxPriority,
  memberId,
  type NodeId,
  nodeIdOf,
  type PeerHello,
} from "@quorate/raft";
import { isAddress, isClusterId, isCount, isNode } from "../codec/fields.ts";
import { formatVersions, type VersionRange } from "./versions.ts";

/** The value of `role` in the hello of a member. */
export const peerRole = "peer";

export function writePeerHello(peer: PeerHello, versions: VersionRange, to?: NodeId): Hello {
  return {
    role: peerRole,
    protocol: formatVersions(versions),
    ...(peer.clusterId === undefined ? {} : { cluster: peer.clusterId }),
    node: nodeIdOf(peer.member),
    incarnation: incarnationOf(peer.member),
    start: peer.start,
    boot: String(peer.boot),
    sequence: String(peer.sequence),
    address: peer.address,
    priority: String(peer.priority),
    machine: String(peer.machine),
    ...(to === undefined ? {} : { to }),
  };
}

/** The peer, or a sentence that says which field is wrong. */
export function readPeerHello(hello: Hello): PeerHello | string {
  const { role, cluster, node, incarnation, start, address } = hello;
  if (role !== peerRole) return fault("role", role);
  if (cluster !== undefined && !isClusterId(cluster)) return fault("cluster", cluster);
  if (!isNode(node)) return fault("node", node);
  if (incarnation === undefined || !isIncarnation(incarnation)) return fault("incarnation", incarnation);
  if (start === undefined || !isIncarnation(start)) return fault("start", start);
  if (!isAddress(address)) return fault("address", address);
  const boot = readCount(hello.boot);
  if (boot === undefined) return fault("boot", hello.boot);
  const sequence = readCount(hello.sequence);
  if (sequence === undefined) return fault("sequence", hello.sequence);
  const priority = readCount(hello.priority ?? "1");
  if (priority === undefined || priority < 1 || priority > maxPriority) {
    return fault("priority", hello.priority);
  }
  const machine = readCount(hello.machine ?? "1");
  if (machine === undefined || machine < 1) return fault("machine", hello.machine);
  return {
    member: memberId(node, incarnation),
    clusterId: cluster,
    start,
    boot,
    sequence,
    address,
    priority,
    machine,
  };
}

function fault(field: string, value: string | undefined): string {
  const shown = value === undefined ? "is missing" : `is ${JSON.stringify(value.slice(0, 80))}`;
  return `The field ${field} of the hello ${shown}, which no member shows.`;
}

function readCount(text: string | undefined): number | undefined {
  if (text === undefined || !/^(0|[1-9][0-9]{0,15})$/.test(text)) return undefined;
  const value = Number(text);
  return isCount(value) ? value : undefined;
}
