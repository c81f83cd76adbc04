/**
 * The members of the cluster as its users see and change them. What is sent, resent and reported is decided in
 * caller.ts; what may be changed, by the leader.
 */
import { QuorateError } from "@quorate/raft";
import { type Answered, type CallPolicy, senseless } from "./caller.ts";
import type {
  ClusterMembers,
  MemberAction,
  MemberChangeOptions,
  MemberList,
  RequestOptions,
} from "./cluster.ts";
import { type AskPorts, patienceOptions } from "./kv.ts";
import { taken } from "./optionNames.ts";
import type { MembershipReport, RequestBody } from "./protocol/index.ts";

export interface JoinRequest {
  readonly member: string;
  readonly endpoint: string;
  readonly votes: boolean;
}

const advice = "list the members to see";
const asking: CallPolicy = { target: "leader", resend: "always", hasEffect: false, advice };
const once: CallPolicy = { target: "leader", resend: "ifNone", hasEffect: true, advice };
/** Done twice it is done once. */
const joining: CallPolicy = { target: "leader", resend: "always", hasEffect: true, advice };

export function clusterMembers(ports: AskPorts): ClusterMembers {
  const change = async (
    name: keyof ClusterMembers,
    actions: readonly MemberAction[],
    options: MemberChangeOptions = {},
  ): Promise<MemberList> => {
    const { ifIndex = -1 } = taken(`members.${name}`, options);
    if (!Number.isSafeInteger(ifIndex) || ifIndex < -1) {
      throw new QuorateError(
        "INVALID_ARGUMENT",
        `ifIndex is ${ifIndex}; it is the index of a list of members.`,
      );
    }
    return ask(ports, { kind: "changeMembers", changes: [...actions], ifIndex }, once, options);
  };
  return {
    list: async (options = {}) => ask(ports, { kind: "listMembers" }, asking, taken("members.list", options)),
    promote: (member, options) => change("promote", [{ kind: "promote", member }], options),
    demote: (member, options) => change("demote", [{ kind: "demote", member }], options),
    remove: (member, options) => change("remove", [{ kind: "remove", member }], options),
    move: (member, endpoint, options) => change("move", [{ kind: "move", member, endpoint }], options),
    change: (actions, options) => change("change", actions, options),
  };
}

/** For a node that waits to become a member. */
export function requestJoin(
  ports: AskPorts,
  request: JoinRequest,
  options: RequestOptions,
): Promise<MemberList> {
  return ask(ports, { kind: "joinCluster", ...request }, joining, options);
}

async function ask(
  { calls, caller, requestTimeoutMs }: AskPorts,
  body: RequestBody,
  policy: CallPolicy,
  options: RequestOptions,
): Promise<MemberList> {
  const patient = patienceOptions(options, requestTimeoutMs);
  return listOf(await calls.run(patient, (patience) => caller.call(body, policy, patience)));
}

function listOf({ body }: Answered): MemberList {
  if (body.kind !== "members") throw senseless("a question about members", body, "unknown");
  return memberList(body.membership);
}

export function memberList({ clusterId, index, members }: MembershipReport): MemberList {
  return {
    clusterId,
    index,
    members: members.map((member) => ({
      ...member,
      replaces: member.replaces === "" ? null : member.replaces,
    })),
  };
}
