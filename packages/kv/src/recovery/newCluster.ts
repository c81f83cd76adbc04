/**
 * A new cluster out of the store of an old one: its first member's directory.
 *
 * Clients of the old cluster must not mistake it for theirs, and what the old one granted must not outrank what the new
 * one grants, though nobody knows any more what it granted last. So it has another cluster id, every session is at its
 * end, and the revision, which fencing tokens are made of, jumps by 2^40: no store writes as much.
 */
import { encodeProposal } from "@quorate/client/protocol";
import {
  asIndex,
  type Boundary,
  memberId,
  type NodeId,
  QuorateError,
  randomHex,
  type SnapshotHeader,
  systemRandom,
  votersOnly,
} from "@quorate/raft";
import { openDirectory } from "@quorate/storage";
import {
  applyEntry,
  jumpRevision,
  type StoreState,
  sessions,
  viewOf,
  writeContent,
} from "../machine/index.ts";
import { checksumOf } from "./checksum.ts";

export const revisionJump: number = 2 ** 40;

/** A store, and the last entry that is in it. */
export interface StoreAt {
  readonly store: StoreState;
  readonly boundary: Boundary;
}

export interface FirstMember {
  /** A directory that is empty, or is not there. */
  readonly directory: string;
  readonly nodeId: NodeId;
  /** Where it says that it can be reached. */
  readonly address: string;
}

export interface NewCluster {
  readonly clusterId: string;
  readonly member: string;
  readonly revision: number;
  readonly sessionsEnded: number;
  readonly boundary: Boundary;
}

/** Changes `store`. The caller has seen to it that the directory is empty. */
export async function makeNewCluster(from: StoreAt, first: FirstMember): Promise<NewCluster> {
  const { store } = from;
  const sessionsEnded = sessions(store).size;
  const boundary = begunAnew(from);
  const random = systemRandom();
  const log = await openDirectory(first.directory, { nodeId: first.nodeId, random });
  try {
    const member = memberId(log.identity.nodeId, log.identity.incarnation);
    const configuration = votersOnly([{ id: member, address: first.address }]);
    const clusterId = randomHex(random, 32);
    await log.bear({ clusterId, configuration });
    const view = viewOf(store);
    const { bytes, value: checksum } = checksumOf(writeContent(view));
    const header: SnapshotHeader = {
      boundary,
      chain: 0,
      configuration: { index: asIndex(0), configuration },
      bytes,
      checksum,
    };
    const receiver = await log.snapshots.receive(header);
    for (const chunk of writeContent(view)) await receiver.write(receiver.offset, chunk);
    await receiver.finish();
    await log.install(header);
    return { clusterId, member, revision: store.revision, sessionsEnded, boundary };
  } finally {
    await log.close();
  }
}

/** Ends all sessions, as if time had run out, each by an entry that the old log never had. */
function begunAnew({ store, boundary }: StoreAt): Boundary {
  if (store.revision > Number.MAX_SAFE_INTEGER - 2 * revisionJump) {
    throw new QuorateError("INVALID_ARGUMENT", `The store's revision is ${store.revision}: it cannot jump.`);
  }
  const { term } = boundary;
  let { index } = boundary;
  for (const session of sessions(store).keys()) {
    index = asIndex(index + 1);
    const data = encodeProposal({
      origin: { kind: "anonymous" },
      command: { kind: "expireSession", session, term },
    });
    applyEntry(store, { index, term, kind: "command", data });
  }
  jumpRevision(store, revisionJump);
  return { index: asIndex(index + 1), term };
}
