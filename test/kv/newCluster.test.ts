/** What a new cluster has of an old store, and what it must not have. */
import { type Command, type CommandResult, encodeProposal, type Origin } from "@quorate/client/protocol";
import {
  applyEntry,
  createStore,
  getLease,
  getPair,
  restoreContent,
  revision,
  type StoreState,
  sessions,
  viewOf,
  writeContent,
} from "@quorate/kv/machine";
import {
  type DirectoryStore,
  makeNewCluster,
  type NewCluster,
  newClusterSentences,
  readDirectoryStore,
  revisionJump,
} from "@quorate/kv/recovery";
import { asIndex, asTerm, type NodeId } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import { acquireCommand } from "../machine/party.ts";
import { temporaryDirectory } from "../storage/temporaryDirectory.ts";

interface OldStore {
  readonly store: StoreState;
  index: number;
  apply(command: Command, origin?: Origin): CommandResult;
}

/**
 * A store with a session that holds the lease x and has a key of its own, another one that waits for it, and a pair
 * that is nobody's.
 */
function oldStore(ttlMs: number = 60_000): OldStore {
  const store = createStore();
  const old: OldStore = {
    store,
    index: 0,
    apply(command, origin = { kind: "anonymous" }) {
      old.index += 1;
      const data = encodeProposal({ origin, command });
      return applyEntry(store, { index: old.index, term: 3, kind: "command", data });
    },
  };
  const { apply } = old;
  const write = { format: "text", condition: { kind: "none" } } as const;
  apply({ kind: "put", key: "plain", value: new TextEncoder().encode("kept"), ...write });
  apply({ kind: "openSession", ttlMs });
  const session = old.index;
  const value = new TextEncoder().encode("here");
  apply({ kind: "put", key: "alive", value, ...write, attached: true } as Command, {
    kind: "session",
    session,
    sequence: 1,
    ackedBelow: 1,
  });
  apply(acquireX, { kind: "session", session, sequence: 2, ackedBelow: 1 });
  apply({ kind: "openSession", ttlMs: 5_000 });
  apply(acquireX, { kind: "session", session: old.index, sequence: 1, ackedBelow: 1 });
  return old;
}

const acquireX = acquireCommand(["x"], "");

async function madeOf(
  { store, index }: OldStore,
  grantsAtOnce?: boolean,
): Promise<{ made: NewCluster; found: DirectoryStore }> {
  const directory = temporaryDirectory();
  const made = await makeNewCluster(
    { store, boundary: { index: asIndex(index), term: asTerm(3) } },
    {
      directory,
      nodeId: "n" as NodeId,
      address: "ws://127.0.0.1:7101",
      ...(grantsAtOnce === undefined ? {} : { grantsAtOnce }),
    },
  );
  return { made, found: await readDirectoryStore(directory) };
}

describe("A new cluster", () => {
  it("has the pairs of the old one, none of its sessions and what hung on them, and a revision far beyond", async () => {
    const old = oldStore();
    const { store, index } = old;
    expect([sessions(store).size, getPair(store, "alive")?.version]).toEqual([2, 1]);
    const before = revision(store);
    const { made, found } = await madeOf(old);
    expect(made).toMatchObject({ sessionsEnded: 2, member: expect.stringMatching(/^n\./) });
    expect(found.clusterId).toBe(made.clusterId);
    expect(sessions(found.store).size).toBe(0);
    expect(getPair(found.store, "alive")).toBeUndefined();
    expect(getPair(found.store, "plain")?.modRevision).toBe(1);
    expect(revision(found.store)).toBeGreaterThanOrEqual(before + revisionJump);
    expect(found.boundary.index).toBeGreaterThan(index);
    expect(found.boundary.term).toBe(3);
  });

  it("grants nothing for the longest time to live that is in use in the old one, and nothing while it is made", async () => {
    const { made, found } = await madeOf(oldStore());
    expect(made).toMatchObject({ graceMs: 60_000, endlessSessionsEnded: 0 });
    expect(found.store.graceMs).toBe(60_000);
    expect(getLease(found.store, "x")).toMatchObject({ state: "delayed", transitions: 1, waiting: 0 });
    expect(newClusterSentences(made).join(" ")).toContain("It grants no lease until 60 s after");
  });

  it("grants at once where somebody has said so, and tells of sessions that nothing ends", async () => {
    const { made, found } = await madeOf(oldStore(Number.POSITIVE_INFINITY), true);
    expect(made).toMatchObject({ graceMs: 0, endlessSessionsEnded: 1 });
    expect(found.store.graceMs).toBe(0);
    expect(getLease(found.store, "x")).toMatchObject({ state: "free", transitions: 1 });
    const told = newClusterSentences(made).join(" ");
    expect(told).toContain("1 of them had no time to live");
    expect(told).toContain("It grants leases at once");
  });

  it("never grants a term again that the old one granted, before it was saved or after", async () => {
    const old = oldStore();
    const saved = restoredFrom(old.store);
    const { found } = await madeOf({ ...old, store: saved }, true);
    let newest = getLease(old.store, "x").term;
    for (let n = 0; n < 100; n += 1) {
      old.apply({ kind: "breakLease", name: "x", afterMs: 0, force: true });
      old.apply({ kind: "openSession", ttlMs: 5_000 });
      old.apply(acquireX, { kind: "session", session: old.index, sequence: 1, ackedBelow: 1 });
      newest = Math.max(newest, getLease(old.store, "x").term);
    }
    expect(newest).toBeGreaterThan(90);
    const renewed: OldStore = oldStore();
    Object.assign(renewed.store, found.store);
    renewed.index = found.boundary.index;
    renewed.apply({ kind: "openSession", ttlMs: 5_000 });
    const session = renewed.index;
    const granted = renewed.apply(acquireX, { kind: "session", session, sequence: 1, ackedBelow: 1 });
    expect(granted).toMatchObject({ kind: "leaseGranted" });
    expect(getLease(renewed.store, "x").term).toBeGreaterThan(newest);
  });
});

function restoredFrom(store: StoreState): StoreState {
  const restoration = restoreContent();
  for (const piece of writeContent(viewOf(store))) restoration.add(piece);
  return restoration.finish();
}
