/**
 * `quorate member ACTION`: who belongs to the cluster, and changes of that. Every action prints the members as they
 * then are.
 */
import type { Cluster, ClusterMember, MemberChangeOptions, MemberList } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import { exitCodes } from "../exitCodes.ts";
import { checkAddress, textOption } from "../optionValues.ts";
import { textTable } from "../textTable.ts";
import { UsageError } from "../usageError.ts";
import { connectionOptions, withCluster } from "./clusterConnection.ts";

type Action = (cluster: Cluster) => Promise<MemberList>;

export async function runMember(positionals: readonly string[], given: GivenOptions): Promise<number> {
  const action = actionOf(positionals, given);
  const list = await withCluster(connectionOptions(given), action);
  if (given.json) process.stdout.write(`${JSON.stringify(list)}\n`);
  else process.stdout.write(`${memberLines(list).join("\n")}\n`);
  return exitCodes.done;
}

function actionOf(positionals: readonly string[], given: GivenOptions): Action {
  const [name = "", id, endpoint] = positionals;
  const options = changeOptions(given);
  switch (name) {
    case "list":
      checkCount(positionals, 1, "list");
      return (cluster) => cluster.members.list();
    case "promote":
    case "demote":
    case "remove": {
      checkCount(positionals, 2, `${name} ID`);
      const member = id ?? "";
      return (cluster) => cluster.members[name](member, options);
    }
    case "move": {
      checkCount(positionals, 3, "move ID ENDPOINT");
      const member = id ?? "";
      const address = checkAddress(endpoint ?? "", "ENDPOINT");
      return (cluster) => cluster.members.move(member, address, options);
    }
    case "add":
    case "replace":
      throw new UsageError(
        `A node that is to be added, or to take its own place again, asks for it itself: start it with quorate node ` +
          `--id ${id ?? "ID"} --listen ADDRESS --data-dir DIR --join ADDRESSES, the addresses of members.`,
      );
    default:
      throw new UsageError(`There is no action "${name}": list, promote, demote, remove and move are there.`);
  }
}

function checkCount(positionals: readonly string[], count: number, usage: string): void {
  if (positionals.length !== count) throw new UsageError(`Use it so: quorate member ${usage}.`);
}

function changeOptions(given: GivenOptions): MemberChangeOptions {
  const text = textOption(given, "if-index");
  if (text === undefined) return {};
  if (!/^\d{1,15}$/.test(text)) {
    throw new UsageError(`--if-index is "${text}"; it is the number that member list shows.`);
  }
  return { ifIndex: Number(text) };
}

export function memberLines({ clusterId, index, members }: MemberList): readonly string[] {
  const rows = members.map((member) => [
    member.id,
    roleWords(member, members),
    member.endpoint,
    member.member,
  ]);
  return [
    `cluster ${clusterId}, membership of index ${index}`,
    "",
    ...textTable(["ID", "ROLE", "ENDPOINT", "MEMBER"], rows),
  ];
}

function roleWords(member: ClusterMember, members: readonly ClusterMember[]): string {
  if (member.leaving) return "voter, leaving";
  if (!member.promotes) return member.role;
  const replaced = members.find((other) => other.member === member.replaces);
  return replaced === undefined ? "learner, to be a voter" : `learner, to replace ${replaced.id}`;
}
