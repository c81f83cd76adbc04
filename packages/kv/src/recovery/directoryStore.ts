/**
 * The store of a stopped node, rebuilt from its directory: the newest snapshot, and every entry after it, whether it
 * was committed or not. Nobody can tell from one directory alone, and an entry that was not committed may have been.
 */
import {
  asIndex,
  type Boundary,
  type Configuration,
  type Identity,
  type LogStore,
  QuorateError,
  type RestoredState,
  systemRandom,
} from "@quorate/raft";
import { examine, openDirectory, type Report } from "@quorate/storage";
import { applyEntry, createStore, restoreContent, type StoreState } from "../machine/index.ts";
import { readingState } from "../server/readingState.ts";
import { checksumOf } from "./checksum.ts";

const readBytes = 1_048_576;

export interface DirectoryStore {
  readonly store: StoreState;
  /** The last entry that is in it. */
  readonly boundary: Boundary;
  readonly configuration: Configuration;
  readonly clusterId: string;
  readonly identity: Identity;
  /** What was found before it was opened. */
  readonly report: Report;
}

/**
 * Opens the directory as a start of its node does, and closes it again. Rejects `DIRECTORY_IN_USE` where the node runs,
 * `DATA_LOST` or `WRONG_DIRECTORY` where it is none that starts as a member of a cluster.
 */
export async function readDirectoryStore(directory: string): Promise<DirectoryStore> {
  const report = await examine(directory);
  const { identity, prognosis, verdict } = report;
  if (identity === undefined || !["voter", "mute"].includes(prognosis)) {
    throw new QuorateError("DATA_LOST", `${directory} holds no store that can be taken from it. ${verdict}`);
  }
  const log = await openDirectory(directory, { nodeId: identity.nodeId, random: systemRandom() });
  try {
    const { standing } = log;
    if (standing.kind !== "born") throw new QuorateError("DATA_LOST", `${directory} is of no cluster.`);
    const { restored, birth } = standing;
    const store = await restoredStore(log, restored);
    const boundary = await applyRest(log, restored, store);
    const configuration = restored.configurations.at(-1)?.configuration ?? birth.configuration;
    return { store, boundary, configuration, clusterId: birth.clusterId, identity: log.identity, report };
  } finally {
    await log.close();
  }
}

async function restoredStore({ snapshots }: LogStore, { snapshot }: RestoredState): Promise<StoreState> {
  if (snapshot === undefined) return createStore();
  const restoration = restoreContent();
  const sum = checksumOf();
  for (let offset = 0; offset < snapshot.bytes; ) {
    const piece = await snapshots.read(snapshot, offset, readBytes);
    sum.add(piece);
    readingState(() => restoration.add(piece));
    offset += piece.length;
  }
  if (sum.value !== snapshot.checksum) {
    throw new QuorateError(
      "SNAPSHOT_DAMAGED",
      `The snapshot at entry ${snapshot.boundary.index} is damaged.`,
    );
  }
  return restoration.finish();
}

async function applyRest(log: LogStore, restored: RestoredState, store: StoreState): Promise<Boundary> {
  let last: Boundary = restored.snapshot?.boundary ?? restored.boundary;
  while (last.index < restored.lastIndex) {
    const entries = await log.read(asIndex(last.index + 1), restored.lastIndex, readBytes);
    for (const entry of entries) {
      readingState(() => applyEntry(store, entry));
      last = { index: entry.index, term: entry.term };
    }
  }
  return last;
}
