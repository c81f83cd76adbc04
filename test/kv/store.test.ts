/** The store as its users call it, on nodes joined in this process: transactions, the past, ranges, limits, watches. */
import { type ChangeEvent, CompactedError, type Watch, type WatchEvent } from "@quorate/client";
import { join, type NodeCluster } from "@quorate/kv";
import { QuorateError } from "@quorate/raft";
import { memoryNetwork } from "@quorate/transport/links";
import { afterEach, describe, expect, it } from "vitest";
import { errorFrom } from "../client/fakeCluster.ts";
import { until } from "../transport/world.ts";

const started: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((cluster) => cluster.close()));
});

async function alone(): Promise<NodeCluster> {
  const cluster = await join({ id: "a" });
  started.push(cluster);
  return cluster;
}

async function three(): Promise<NodeCluster[]> {
  const peers = { a: "ws://10.0.0.1:7101", b: "ws://10.0.0.2:7101", c: "ws://10.0.0.3:7101" };
  const network = memoryNetwork();
  const clusters = await Promise.all(
    Object.keys(peers).map((id) => join({ id, peers, memory: true, network, insecure: true })),
  );
  started.push(...clusters);
  return clusters;
}

/** `put k=v@revision`, in short. */
function told(event: WatchEvent): string {
  if (event.kind === "progress") return `progress@${event.revision}`;
  const what = event.kind === "put" ? `${event.key}=${String(event.entry.value)}` : event.key;
  const before = event.previous === undefined ? "" : ` was ${String(event.previous.value)}`;
  return `${event.kind} ${what}${before}@${event.revision}${event.last ? "" : "…"}`;
}

async function take(watch: Watch<WatchEvent>, count: number): Promise<string[]> {
  const events: string[] = [];
  while (events.length < count) {
    const { done, value } = await watch.next();
    if (done) break;
    events.push(told(value));
  }
  return events;
}

describe("a transaction", () => {
  it("runs the branch that its compares decide, and types what each operation gives", async () => {
    const { kv } = await alone();
    await kv.put("a", "1");
    const absent = { key: "lock", version: 0 } as const;
    const taken = await kv
      .txn()
      .if(absent, { key: "a", value: "1" })
      .then({ put: "lock", value: "me" }, { get: "a" }, { delete: { prefix: "old/" } })
      .else({ get: "lock" })
      .commit();
    expect(taken).toMatchObject({ succeeded: true, revision: 2 });
    if (!taken.succeeded) throw new Error("unreachable");
    expect(taken.results[1].entry?.value).toBe("1");
    expect(taken.results[2].deleted).toBe(0);
    const refused = await kv
      .txn()
      .if(absent)
      .then({ put: "lock", value: "you" })
      .else({ get: "lock" })
      .commit();
    if (refused.succeeded) throw new Error("it must not succeed twice");
    expect(refused.results[0].entry?.value).toBe("me");
    expect(refused.revision).toBe(2);
  });

  it("is refused before it is sent where it makes no sense, and by `await` itself", async () => {
    const { kv } = await alone();
    const twice = kv.txn().then({ put: "a", value: 1 }, { delete: { prefix: "a" } });
    expect(await errorFrom(twice.commit())).toMatchObject({ code: "INVALID_ARGUMENT" });
    const many = kv
      .txn()
      .then(...Array.from({ length: 2 }, (_, n) => ({ put: `k${n}`, value: "x".repeat(900_000) })));
    expect(await errorFrom(many.commit())).toMatchObject({ code: "TOO_LARGE", outcome: "none" });
    const awaited = kv.txn().then({ get: "a" }) as unknown as Promise<unknown>;
    expect(await errorFrom(Promise.resolve(awaited))).toMatchObject({ code: "INVALID_ARGUMENT" });
    const nothing = { key: "a" } as unknown as { key: string; version: number };
    expect(await errorFrom(kv.txn().if(nothing).commit())).toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("the past", () => {
  it("is read at its revision, page by page, and refused where it is cut away or yet to come", async () => {
    const { kv } = await alone();
    for (let n = 1; n <= 5; n += 1) await kv.put(`k${n}`, n);
    const { revision } = await kv.deleteRange({ prefix: "k" });
    await kv.put("k9", 9);
    const first = await kv.list({ prefix: "k" }, { revision: revision - 1, limit: 3, count: true });
    expect([first.entries.map(({ key }) => key), first.count, first.revision]).toEqual([
      ["k1", "k2", "k3"],
      5,
      5,
    ]);
    const second = await kv.list(
      { prefix: "k" },
      { revision: first.revision, cursor: first.cursor as string },
    );
    expect(second.entries.map(({ key }) => key)).toEqual(["k4", "k5"]);
    expect(await kv.count({ prefix: "k" }, { revision })).toEqual({ count: 0, revision });
    expect(await kv.get("k2", { revision: 1 })).toBeUndefined();
    expect(await errorFrom(kv.get("k2", { revision: 99 }))).toMatchObject({
      code: "FUTURE_REVISION",
      retryable: false,
    });
    expect(await kv.limit({ historyRevisions: 2 })).toMatchObject({ historyRevisions: 2 });
    const error = await errorFrom(kv.get("k2", { revision: 4 }));
    expect(error).toBeInstanceOf(CompactedError);
    expect(error).toMatchObject({ code: "COMPACTED", floor: 5, outcome: "none", retryable: false });
    expect((await kv.get("k2", { revision: 5 }))?.value).toBe(2);
  });

  it("has a quota, above which only deletes are taken", async () => {
    const cluster = await alone();
    const { kv } = cluster;
    await kv.limit({ quotaBytes: 65_536 });
    await kv.put("a", new Uint8Array(60_000));
    const error = await errorFrom(kv.put("b", new Uint8Array(6_000)));
    expect(error).toMatchObject({ code: "QUOTA_EXCEEDED", outcome: "none", retryable: false });
    const [node] = (await cluster.status()).nodes;
    expect(node?.complaints.join()).toContain("of its quota of 65536");
    expect(await kv.deleteRange("a")).toMatchObject({ deleted: 1 });
    await kv.put("b", new Uint8Array(6_000));
    expect((await cluster.status()).nodes[0]?.complaints).toEqual([]);
  });
});

describe("a watch", () => {
  it("tells each change once, in order, whole revisions, with what was before", async () => {
    const { kv } = await alone();
    await kv.put("a/1", 1);
    const watch = kv.watch({ prefix: "a/" }, { prevKv: true });
    expect(await watch.started()).toEqual({ revision: 1 });
    await kv.put("b", "elsewhere");
    await kv.txn().then({ put: "a/2", value: 2 }, { put: "b", value: 3 }, { delete: "a/1" }).commit();
    await kv.put("a/2", 22);
    expect(await take(watch, 3)).toEqual(["put a/2=2@3…", "delete a/1 was 1@3", "put a/2=22 was 2@4"]);
    await watch.return();
    expect(await watch.next()).toEqual({ done: true, value: undefined });
  });

  it("begins at any kept revision, also one to come, and says where history was cut away", async () => {
    const { kv } = await alone();
    for (let n = 1; n <= 4; n += 1) await kv.put("k", n);
    const ahead = kv.watch("k", { from: 6 });
    expect(await take(kv.watch("k", { from: 2 }), 3)).toEqual(["put k=2@2", "put k=3@3", "put k=4@4"]);
    await kv.put("k", 5);
    await kv.put("k", 6);
    expect(await take(ahead, 1)).toEqual(["put k=6@6"]);
    await kv.limit({ historyRevisions: 1 });
    const late = kv.watch("k", { from: 2 });
    const error = await errorFrom(late.next());
    expect(error).toBeInstanceOf(CompactedError);
    expect(error).toMatchObject({ floor: 5 });
    expect(await late.next()).toEqual({ done: true, value: undefined });
    expect(await errorFrom(late.started())).toBe(error);
  });

  it("filters, tells progress where it is asked to, and ends by its signal", async () => {
    const { kv } = await alone();
    const abort = new AbortController();
    const deletes = kv.watch("k", { filter: "deletes", progress: true, signal: abort.signal });
    await deletes.started();
    await kv.put("k", 1);
    await kv.delete("k");
    await kv.put("other", 1);
    expect(await take(deletes, 2)).toEqual(["delete k@2", "progress@3"]);
    abort.abort(new Error("enough"));
    expect(await errorFrom(deletes.next())).toMatchObject({ code: "ABORTED" });
    expect(await errorFrom(kv.watch("k", { signal: abort.signal }).next())).toMatchObject({
      code: "ABORTED",
    });
    expect(() => kv.watch("k", { from: 0 })).toThrow("from a revision");
  });

  it("ends with its cluster object", async () => {
    const cluster = await alone();
    const next = cluster.kv.watch("k").next();
    await cluster.close();
    expect(await errorFrom(next)).toMatchObject({ code: "CLOSED" });
    expect(() => cluster.kv.watch("k")).toThrow(QuorateError);
  });

  it("goes on at another node when its own is gone, with nothing twice and nothing left out", async () => {
    const [a, b, c] = (await three()) as [NodeCluster, NodeCluster, NodeCluster];
    await a.kv.put("k/0", 0);
    const watches = [a, b, c].map((cluster) => cluster.kv.watch({ prefix: "k/" }, { from: 1 }));
    const values = watches.map(() => [] as unknown[]);
    for (const [at, watch] of watches.entries()) {
      void (async () => {
        for await (const event of watch as Watch<ChangeEvent>) {
          if (event.kind === "put") values[at]?.push(event.entry.value);
        }
      })().catch(() => {});
    }
    let written = 0;
    const write = async (cluster: NodeCluster, until: number): Promise<void> => {
      while (written < until) {
        written += 1;
        await cluster.kv.put(`k/${written % 3}`, written);
      }
    };
    await write(a, 50);
    await c.close();
    await write(b, 120);
    const expected = Array.from({ length: 121 }, (_, n) => n);
    await until(() => values[0]?.length === 121 && values[1]?.length === 121, "both to be told everything");
    expect(values[0]).toEqual(expected);
    expect(values[1]).toEqual(expected);
    expect(values[2]).toEqual(expected.slice(0, values[2]?.length));
  });
});
