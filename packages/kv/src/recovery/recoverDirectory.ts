/**
 * The way back from a lost majority: what one node still has becomes a new cluster, whose only member it is.
 *
 * What the lost nodes had acknowledged and this one never saw is gone; what this one had and nobody acknowledged may be
 * in it. So it is done only by somebody who names the node, and the old directory is kept beside the new one.
 */
import { readFile, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Member, membersOf, nodeIdOf, QuorateError, systemRandom } from "@quorate/raft";
import { openDirectory } from "@quorate/storage";
import { syncDirectory, writeDurably } from "@quorate/storage/internal";
import { graceNeeded } from "../machine/index.ts";
import { type DirectoryStore, readDirectoryStore } from "./directoryStore.ts";
import { makeNewCluster, type NewCluster, type NewClusterOptions } from "./newCluster.ts";
import { assertEmpty } from "./snapshots.ts";

/** The file in the new directory that tells what was done. */
export const recoveryRecordName = "recovered.json";

export interface RecoveryRecord {
  /** ISO 8601. */
  readonly at: string;
  readonly nodeId: string;
  readonly from: {
    readonly clusterId: string;
    readonly incarnation: string;
    readonly members: readonly string[];
    /** The last entry that it had. */
    readonly index: number;
    readonly term: number;
    /** What its log once had, where it had lost entries: up to this index. */
    readonly floorIndex: number | null;
    /** Where the old directory is kept. */
    readonly directory: string;
  };
  readonly to: { readonly clusterId: string; readonly member: string; readonly revision: number };
  readonly sessionsEnded: number;
  readonly endlessSessionsEnded: number;
  readonly graceMs: number;
}

export interface Recovered {
  readonly record: RecoveryRecord;
  readonly cluster: NewCluster;
}

export interface RecoverOptions extends Partial<NewClusterOptions> {
  readonly now: Date;
}

/** `address`: where the new cluster's member is reached; default: where the old one was. */
export async function recoverDirectory(
  directory: string,
  { now, address, grantsAtOnce = false }: RecoverOptions,
): Promise<Recovered> {
  const path = resolve(directory);
  const old = await readDirectoryStore(path);
  const { nodeId, incarnation } = old.identity;
  const kept = `${path}.before-recovery-${incarnation}`;
  const made = `${path}.recovering`;
  await assertEmpty(kept);
  await rm(made, { recursive: true, force: true });
  const first = { directory: made, nodeId, address: address ?? addressOf(old), grantsAtOnce };
  const cluster = await makeNewCluster(old, first);
  const record = recordOf(old, cluster, kept, now);
  await writeDurably(
    join(made, recoveryRecordName),
    Buffer.from(`${JSON.stringify(record, undefined, 2)}\n`),
  );
  // Open, and so locked, until it has its new name: no node starts on it in between.
  const held = await openDirectory(path, { nodeId, random: systemRandom() });
  try {
    await rename(path, kept);
    await rename(made, path);
    await syncDirectory(dirname(path));
  } finally {
    await held.close();
  }
  return { record, cluster };
}

/** What was recorded when this directory was recovered; undefined where it never was. */
export async function readRecoveryRecord(directory: string): Promise<RecoveryRecord | undefined> {
  try {
    return JSON.parse(await readFile(join(directory, recoveryRecordName), "utf8")) as RecoveryRecord;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function recordOf(old: DirectoryStore, cluster: NewCluster, kept: string, now: Date): RecoveryRecord {
  const { clusterId, identity, configuration, boundary, report } = old;
  return {
    at: now.toISOString(),
    nodeId: identity.nodeId,
    from: {
      clusterId,
      incarnation: identity.incarnation,
      members: membersOf(configuration).map(({ id }) => id),
      index: boundary.index,
      term: boundary.term,
      floorIndex: report.floor?.lastIndex ?? null,
      directory: kept,
    },
    to: { clusterId: cluster.clusterId, member: cluster.member, revision: cluster.revision },
    sessionsEnded: cluster.sessionsEnded,
    endlessSessionsEnded: cluster.endlessSessionsEnded,
    graceMs: cluster.graceMs,
  };
}

function addressOf({ configuration, identity }: DirectoryStore): string {
  const own = membersOf(configuration).find(({ id }: Member) => nodeIdOf(id) === identity.nodeId);
  if (own !== undefined) return own.address;
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `Node ${identity.nodeId} is no member of the last membership that it knows: say where it listens.`,
  );
}

/** What may be lost, in sentences, for whoever is about to decide. */
export function lossSentences({
  report,
  configuration,
  boundary,
  clusterId,
  store,
}: Pick<DirectoryStore, "report" | "configuration" | "boundary" | "clusterId" | "store">): readonly string[] {
  const members = membersOf(configuration).map(({ id }) => nodeIdOf(id));
  const { floor } = report;
  return [
    `It was one of ${members.length} members (${members.join(", ")}) of cluster ${clusterId}.`,
    `It has entries up to ${boundary.index}, the last one of term ${boundary.term}. What the others acknowledged after that is gone for good.`,
    ...(floor === undefined || floor.lastIndex <= boundary.index
      ? []
      : [`It once had entries up to ${floor.lastIndex} itself, and lost those after ${boundary.index}.`]),
    "Its last entries may never have been acknowledged, and are kept nevertheless.",
    `Its sessions end, with their leases; no lease is granted until ${graceNeeded(store) / 1_000} s after the new ` +
      "cluster's leader took office, unless --grant-at-once says that nobody believes in one any more.",
    "The other members can never come back to it: their directories belong to the old cluster. Should a majority " +
      "of them be started again, two clusters go on, and each takes writes.",
  ];
}
