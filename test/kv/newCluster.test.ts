/** What a new cluster has of an old store, and what it must not have. */
import { type Command, encodeProposal, type Origin } from "@quorate/client/protocol";
import { applyEntry, createStore, getPair, revision, type StoreState, sessions } from "@quorate/kv/machine";
import { makeNewCluster, readDirectoryStore, revisionJump } from "@quorate/kv/recovery";
import { asIndex, asTerm, type NodeId } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../storage/temporaryDirectory.ts";

/** A store with a session that holds a lease and has a key of its own, and a pair that is nobody's. */
function oldStore(): { store: StoreState; index: number } {
  const store = createStore();
  let index = 0;
  const apply = (command: Command, origin: Origin = { kind: "anonymous" }): void => {
    index += 1;
    applyEntry(store, { index, term: 3, kind: "command", data: encodeProposal({ origin, command }) });
  };
  const write = { format: "text", condition: { kind: "none" } } as const;
  apply({ kind: "put", key: "plain", value: new TextEncoder().encode("kept"), ...write });
  apply({ kind: "openSession", ttlMs: 60_000 });
  const session = index;
  const value = new TextEncoder().encode("here");
  apply({ kind: "put", key: "alive", value, ...write, attached: true } as Command, {
    kind: "session",
    session,
    sequence: 1,
    ackedBelow: 1,
  });
  return { store, index };
}

describe("A new cluster", () => {
  it("has the pairs of the old one, none of its sessions and what hung on them, and a revision far beyond", async () => {
    const { store, index } = oldStore();
    expect([sessions(store).size, getPair(store, "alive")?.version]).toEqual([1, 1]);
    const before = revision(store);
    const directory = temporaryDirectory();
    const made = await makeNewCluster(
      { store, boundary: { index: asIndex(index), term: asTerm(3) } },
      { directory, nodeId: "n" as NodeId, address: "ws://127.0.0.1:7101" },
    );
    expect(made).toMatchObject({ sessionsEnded: 1, member: expect.stringMatching(/^n\./) });
    const found = await readDirectoryStore(directory);
    expect(found.clusterId).toBe(made.clusterId);
    expect(sessions(found.store).size).toBe(0);
    expect(getPair(found.store, "alive")).toBeUndefined();
    expect(getPair(found.store, "plain")?.modRevision).toBe(1);
    expect(revision(found.store)).toBeGreaterThanOrEqual(before + revisionJump);
    expect(found.boundary.index).toBeGreaterThan(index);
    expect(found.boundary.term).toBe(3);
  });
});
