/** Saving a store to a file, looking at such a file, and making a new cluster of one. */
import { readdir } from "node:fs/promises";
import type { MemberList, StoreSnapshot } from "@quorate/client";
import {
  asIndex,
  asTerm,
  type Configuration,
  type ConfigurationAt,
  isMemberId,
  type Learner,
  type Member,
  membersOf,
  type NodeId,
  nodeIdOf,
  QuorateError,
} from "@quorate/raft";
import { contentOfSnapshotFile, inspectSnapshotFile, writeSnapshotFile } from "@quorate/storage";
import {
  pairCount,
  restoreContent,
  type StoreState,
  sessions,
  viewOf,
  writeContent,
} from "../machine/index.ts";
import { readingState } from "../server/readingState.ts";
import { readDirectoryStore } from "./directoryStore.ts";
import { makeNewCluster, type NewCluster, type NewClusterOptions } from "./newCluster.ts";

/** What is in a snapshot file, all of which was read and verified. */
export interface SnapshotSummary {
  readonly path: string;
  /** Of the cluster that it was taken of. */
  readonly clusterId: string;
  /** The last entry that is in it. */
  readonly index: number;
  readonly term: number;
  readonly revision: number;
  readonly pairs: number;
  readonly sessions: number;
  readonly leases: number;
  /** Of the content, and its CRC-32. */
  readonly bytes: number;
  readonly checksum: number;
  /** Ids of the members that the cluster had. */
  readonly members: readonly string[];
}

/** The newest store that the directory of a stopped node has, its last entries included, committed or not. */
export async function saveDirectory(directory: string, path: string): Promise<SnapshotSummary> {
  const { store, boundary, clusterId, configuration } = await readDirectoryStore(directory);
  const at: ConfigurationAt = { index: asIndex(0), configuration };
  const facts = { boundary, chain: 0, configuration: at, membership: { clusterId, genesis: 0 } };
  await writeSnapshotFile(path, facts, writeContent(viewOf(store)));
  return inspectSnapshot(path);
}

/** What a node that runs has given. */
export async function saveStoreSnapshot(snapshot: StoreSnapshot, path: string): Promise<SnapshotSummary> {
  const { index, term, members } = snapshot;
  const facts = {
    boundary: { index: asIndex(index), term: asTerm(term) },
    chain: 0,
    configuration: { index: asIndex(0), configuration: configurationOf(members) },
    membership: { clusterId: members.clusterId, genesis: 0 },
  };
  await writeSnapshotFile(path, facts, snapshot.content());
  return inspectSnapshot(path);
}

function configurationOf({ members }: MemberList): Configuration {
  const voters: Member[] = [];
  const learners: Learner[] = [];
  for (const { member, endpoint, role, promotes } of members) {
    if (!isMemberId(member)) continue;
    const one = { id: member, address: endpoint };
    if (role === "voter") voters.push(one);
    else learners.push({ ...one, promotes, replaces: undefined });
  }
  return { voters, outgoing: [], learners };
}

export async function inspectSnapshot(path: string): Promise<SnapshotSummary> {
  return (await loadSnapshot(path)).summary;
}

async function loadSnapshot(path: string): Promise<{ summary: SnapshotSummary; store: StoreState }> {
  const { header, membership } = await inspectSnapshotFile(path);
  const restoration = restoreContent();
  for await (const piece of contentOfSnapshotFile(path, header)) readingState(() => restoration.add(piece));
  const store = restoration.finish();
  const { boundary, bytes, checksum, configuration } = header;
  const members = membersOf(configuration.configuration).map(({ id }) => nodeIdOf(id));
  const summary: SnapshotSummary = {
    path,
    clusterId: membership.clusterId,
    index: boundary.index,
    term: boundary.term,
    revision: store.revision,
    pairs: pairCount(store),
    sessions: sessions(store).size,
    leases: store.leases.size,
    bytes,
    checksum,
    members,
  };
  return { summary, store };
}

/**
 * Makes a new cluster of one node out of a snapshot. Rejects `INVALID_ARGUMENT` where the directory is not empty, and
 * `SNAPSHOT_DAMAGED` before anything was made.
 */
export async function restoreSnapshot(
  path: string,
  { dataDir, nodeId, ...options }: { readonly dataDir: string; readonly nodeId: NodeId } & NewClusterOptions,
): Promise<NewCluster> {
  const { store } = await loadSnapshot(path);
  await assertEmpty(dataDir);
  const { boundary } = (await inspectSnapshotFile(path)).header;
  return makeNewCluster({ store, boundary }, { directory: dataDir, nodeId, ...options });
}

export async function assertEmpty(directory: string): Promise<void> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  if (names.length === 0) return;
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `${directory} is not empty. A new cluster begins in a directory of its own: name one that is not there yet.`,
  );
}
