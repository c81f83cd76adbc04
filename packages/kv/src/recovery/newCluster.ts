/**
 * A new cluster out of the store of an old one: its first member's directory.
 *
 * Clients of the old cluster must not mistake it for theirs, and what the old one granted must not outrank what the new
 * one grants, though nobody knows any more what it granted last. So it has another cluster id, every session is at its
 * end, and the revision, which fencing tokens are made of, jumps by 2^40: no store writes as much. And whoever held a
 * lease may believe in it for as long as its time to live: until then the new one grants nothing.
 */
import { encodeProposal } from "@quorate/client/protocol";
import {
  asIndex,
  type Boundary,
  type LogStore,
  memberId,
  type NodeId,
  QuorateError,
  type Random,
  randomHex,
  type SnapshotHeader,
  systemRandom,
  votersOnly,
} from "@quorate/raft";
import { openDirectory } from "@quorate/storage";
import {
  applyEntry,
  beginGrace,
  graceNeeded,
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

/** Where the new cluster's member says that it can be reached, and what is known of the old one's clients. */
export interface NewClusterOptions {
  readonly address: string;
  /** Nobody of them believes in a lease any more: grants begin at once. */
  readonly grantsAtOnce?: boolean;
}

export interface FirstMember extends NewClusterOptions {
  /** A directory that is empty, or is not there. */
  readonly directory: string;
  readonly nodeId: NodeId;
}

export interface NewCluster {
  readonly clusterId: string;
  readonly member: string;
  readonly revision: number;
  readonly sessionsEnded: number;
  /** Of those, sessions without a time to live: what they held, they may believe in for ever. */
  readonly endlessSessionsEnded: number;
  /** Nothing is granted until so long after its leader took office; 0: grants begin at once. */
  readonly graceMs: number;
  readonly boundary: Boundary;
}

/** Changes `store`. The caller has seen to it that the directory is empty. */
export async function makeNewCluster(from: StoreAt, first: FirstMember): Promise<NewCluster> {
  const random = systemRandom();
  const log = await openDirectory(first.directory, { nodeId: first.nodeId, random });
  try {
    return await bearNewCluster(log, random, from, first);
  } finally {
    await log.close();
  }
}

/** `log` is new, and its node's. Changes `store`. */
export async function bearNewCluster(
  log: LogStore,
  random: Random,
  from: StoreAt,
  { address, grantsAtOnce = false }: NewClusterOptions,
): Promise<NewCluster> {
  const { store } = from;
  const ttls = [...store.sessions.values()].map(({ ttlMs }) => ttlMs);
  const boundary = begunAnew(from, grantsAtOnce);
  const member = memberId(log.identity.nodeId, log.identity.incarnation);
  const configuration = votersOnly([{ id: member, address }]);
  const clusterId = randomHex(random, 32);
  await log.bear({ clusterId, configuration });
  const { bytes, value: checksum } = checksumOf(writeContent(viewOf(store)));
  const header: SnapshotHeader = {
    boundary,
    chain: 0,
    configuration: { index: asIndex(0), configuration },
    bytes,
    checksum,
  };
  const receiver = await log.snapshots.receive(header);
  for (const chunk of writeContent(viewOf(store))) await receiver.write(receiver.offset, chunk);
  await receiver.finish();
  await log.install(header);
  return {
    clusterId,
    member,
    revision: store.revision,
    sessionsEnded: ttls.length,
    endlessSessionsEnded: ttls.filter((ttlMs) => ttlMs === Number.POSITIVE_INFINITY).length,
    graceMs: store.graceMs,
    boundary,
  };
}

/**
 * Ends all sessions, as if time had run out, each by an entry that the old log never had. Nothing is granted meanwhile,
 * or the next one in each queue would be, whose session goes as well.
 */
function begunAnew({ store, boundary }: StoreAt, grantsAtOnce: boolean): Boundary {
  if (store.revision > Number.MAX_SAFE_INTEGER - 2 * revisionJump) {
    throw new QuorateError("INVALID_ARGUMENT", `The store's revision is ${store.revision}: it cannot jump.`);
  }
  const { term } = boundary;
  let { index } = boundary;
  const graceMs = graceNeeded(store);
  beginGrace(store, graceMs);
  for (const session of sessions(store).keys()) {
    index = asIndex(index + 1);
    const data = encodeProposal({
      origin: { kind: "anonymous" },
      command: { kind: "expireSession", session, term },
    });
    applyEntry(store, { index, term, kind: "command", data });
  }
  if (grantsAtOnce) beginGrace(store, 0);
  jumpRevision(store, revisionJump);
  return { index: asIndex(index + 1), term };
}

/** What became of the leases, for whoever made it. */
export function newClusterSentences({
  revision,
  sessionsEnded,
  endlessSessionsEnded,
  graceMs,
}: Pick<NewCluster, "revision" | "sessionsEnded" | "endlessSessionsEnded" | "graceMs">): readonly string[] {
  const endless =
    endlessSessionsEnded === 0
      ? []
      : [
          `${endlessSessionsEnded} of them had no time to live: what they held, their processes may believe in for ever. ` +
            "Stop those processes.",
        ];
  const grants =
    graceMs === 0
      ? "It grants leases at once: whoever still believes in one of the old cluster's is not waited for."
      : `It grants no lease until ${graceMs / 1_000} s after its leader took office, for holders of the old cluster may ` +
        "believe in theirs until then; who asks for one waits. Sessions that were opened later than what is in it, with " +
        "a longer time to live, are not known: start it later by so much.";
  return [`${sessionsEnded} sessions were ended. The revision goes on at ${revision}.`, ...endless, grants];
}
