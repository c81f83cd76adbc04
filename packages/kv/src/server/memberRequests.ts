/**
 * What a node answers to those who ask about the members of the cluster or change them. What may be changed is decided
 * in the core; here names are turned into members, and back.
 */
import type { MemberReport, MembershipChange, MembershipReport, RequestBody } from "@quorate/client/protocol";
import {
  admission,
  asIndex,
  type Configuration,
  isMemberId,
  type Member,
  type MemberChange,
  type MemberId,
  membersOf,
  type NodeStatus,
  nodeIdOf,
  QuorateError,
  type RaftNode,
} from "@quorate/raft";
import { parseAddress } from "@quorate/transport/links";

type MemberRequest = Extract<RequestBody, { readonly kind: "listMembers" | "changeMembers" | "joinCluster" }>;
type MemberNode = Pick<RaftNode<unknown>, "status" | "readIndex" | "changeMembers">;

/** Versions of the state machine: what a node that asks to be taken in knows, and what it has to know. */
export interface KnownVersions {
  readonly shown: number;
  readonly required: () => number;
}

/** Rejects with a `QuorateError`. */
export async function answerMemberRequest(
  node: MemberNode,
  request: MemberRequest,
  versions: KnownVersions,
): Promise<MembershipReport> {
  switch (request.kind) {
    case "listMembers":
      await node.readIndex();
      break;
    case "changeMembers":
      await change(node, request.changes, request.ifIndex);
      break;
    case "joinCluster":
      await takeIn(node, request, versions);
      break;
  }
  return membershipReport(node.status());
}

async function change(
  node: MemberNode,
  changes: readonly MembershipChange[],
  ifIndex: number,
): Promise<void> {
  const configuration = configurationOf(node);
  const resolved = changes.map((one): MemberChange => {
    const id = memberNamed(configuration, one.member);
    return one.kind === "move"
      ? { kind: "move", id, address: checkedAddress(one.endpoint) }
      : { kind: one.kind, id };
  });
  await node.changeMembers(resolved, ifIndex < 0 ? {} : { ifIndex: asIndex(ifIndex) });
}

/** Idempotent: the node asks until it is answered. */
async function takeIn(
  node: MemberNode,
  request: Extract<MemberRequest, { kind: "joinCluster" }>,
  { shown, required }: KnownVersions,
): Promise<void> {
  const { member: id } = request;
  if (!isMemberId(id)) throw invalid(`${JSON.stringify(id)} is no member's id`);
  await node.readIndex();
  if (shown < required()) {
    const sentence =
      `${nodeIdOf(id)} runs a release that knows version ${shown} of the state machine, and this cluster's entries are of ` +
      `version ${required()}: it would misread them. Start it with a newer release.`;
    throw new QuorateError("CHANGE_REFUSED", sentence);
  }
  const member = { id, address: request.endpoint };
  const change = admission(configurationOf(node), member, request.votes);
  if (change === undefined) {
    const { configurationIndex, commitIndex } = node.status();
    if (configurationIndex <= commitIndex) return;
    // It may still be overwritten: who took it for done would wait for its birth for ever.
    throw new QuorateError("CHANGE_REFUSED", "The change that adds it is not committed yet. Ask again.", {
      retryable: true,
    });
  }
  parseAddress(member.address);
  await node.changeMembers([change]);
}

/** Only a leader knows for sure; its configuration is also the one that its answer is checked against. */
function configurationOf(node: MemberNode): Configuration {
  const { configuration, role } = node.status();
  if (configuration !== undefined && role === "leader") return configuration;
  throw new QuorateError("NOT_LEADER", "It does not lead; only the leader answers this.", {
    retryable: true,
  });
}

function memberNamed(configuration: Configuration, name: string): MemberId {
  const members = membersOf(configuration);
  const found = members.filter((member) => member.id === name || nodeIdOf(member.id) === name);
  const [only, other] = found;
  if (only === undefined) {
    const names = members.map((member) => nodeIdOf(member.id)).join(", ");
    throw invalid(`There is no member ${JSON.stringify(name)}; the members are ${names}`);
  }
  if (other === undefined) return only.id;
  const all = found.map((member) => member.id).join(" and ");
  throw invalid(`${JSON.stringify(name)} names the members ${all}: say which`);
}

function checkedAddress(address: string): string {
  parseAddress(address);
  return address;
}

export function membershipReport(status: NodeStatus): MembershipReport {
  const { clusterId = "", configuration, configurationIndex: index } = status;
  const members = configuration === undefined ? [] : membersOf(configuration);
  return { clusterId, index, members: members.map((member) => memberReport(member, configuration)) };
}

function memberReport({ id, address }: Member, configuration: Configuration | undefined): MemberReport {
  const learner = configuration?.learners.find((one) => one.id === id);
  const isStaying = configuration?.voters.some((voter) => voter.id === id) === true;
  return {
    id: nodeIdOf(id),
    member: id,
    endpoint: address,
    role: learner === undefined ? "voter" : "learner",
    leaving: learner === undefined && !isStaying,
    promotes: learner?.promotes === true,
    replaces: learner?.replaces ?? "",
  };
}

function invalid(sentence: string): QuorateError {
  return new QuorateError("INVALID_ARGUMENT", `${sentence}.`);
}
