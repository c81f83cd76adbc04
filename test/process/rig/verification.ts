/** The verdict over a whole cluster after a run: every node has what was promised, and all have the same. */
import { expect } from "vitest";
import { durabilityComplaints, orderComplaints, type WriteRecord } from "./history.ts";
import type { RealCluster } from "./realCluster.ts";

/** Waits until the named nodes (default: all) agree, then reads each by itself and holds it against the history. */
export async function expectKept(
  cluster: RealCluster,
  records: readonly WriteRecord[],
  prefix: string,
  ids: readonly string[] = cluster.nodes.map((node) => node.id),
): Promise<void> {
  expect(orderComplaints(records)).toEqual([]);
  await cluster.agree(ids);
  const [first, ...others] = await Promise.all(ids.map((id) => cluster.readAll(id, prefix)));
  expect(durabilityComplaints(records, first ?? new Map())).toEqual([]);
  // Compared as text: of two maps with thousands of entries a difference would take minutes to print.
  const asText = JSON.stringify([...(first ?? [])]);
  for (const other of others)
    expect(JSON.stringify([...other]) === asText, "all nodes have the same").toBe(true);
}
