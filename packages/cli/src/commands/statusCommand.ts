/** `quorate status`: what each node says of itself. Ends with "unavailable" where nobody answers or nobody leads. */
import type { ClusterStatus } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import { CommandFailure, exitCodes } from "../exitCodes.ts";
import { textTable } from "../textTable.ts";
import { connectionOptions, withCluster } from "./clusterConnection.ts";

export async function runStatus(options: GivenOptions): Promise<number> {
  const connection = connectionOptions(options);
  const status = await withCluster(connection, (cluster) => cluster.status());
  if (options.json) process.stdout.write(`${JSON.stringify(statusAsJson(status))}\n`);
  else process.stdout.write(`${statusLines(status).join("\n")}\n`);
  const lack = whatIsLacking(status, connection.endpoints);
  if (lack !== undefined) throw new CommandFailure(exitCodes.unavailable, lack);
  return exitCodes.done;
}

/** Exactly these fields: scripts and monitors read them. */
export function statusAsJson(status: ClusterStatus): object {
  const { clusterId, leader, term, revision } = status;
  const nodes = status.nodes.map((node) => {
    const { id, pid, role, term, commitIndex, appliedIndex, endpoint } = node;
    return { id, pid, role, term, commitIndex, appliedIndex, endpoint };
  });
  return { clusterId, leader, term, revision, nodes };
}

export function statusLines(status: ClusterStatus): readonly string[] {
  const rows = status.nodes.map((node) => [
    node.id,
    node.role,
    String(node.term ?? "-"),
    String(node.commitIndex ?? "-"),
    String(node.appliedIndex ?? "-"),
    String(node.pid ?? "-"),
    node.endpoint,
  ]);
  const complaints = status.nodes.flatMap((node) => node.complaints.map((words) => `${node.id}: ${words}`));
  return [
    `cluster ${status.clusterId ?? "(unknown)"}, leader ${status.leader ?? "(none)"}, term ${status.term}, ` +
      `revision ${status.revision}`,
    "",
    ...textTable(["NODE", "ROLE", "TERM", "COMMIT", "APPLIED", "PID", "ENDPOINT"], rows),
    ...(complaints.length === 0 ? [] : ["", ...complaints]),
  ];
}

function whatIsLacking(status: ClusterStatus, endpoints: readonly string[]): string | undefined {
  if (status.nodes.every((node) => node.role === "unreachable")) {
    return `No node answers at ${endpoints.join(", ")}. Is the cluster running? Other addresses go into --endpoints.`;
  }
  if (status.leader === null) {
    return "No node leads now: a majority must be up and reach each other. What keeps a node out is said above.";
  }
  return undefined;
}
