/** Writes that are executed once: sequences, their window, renewals, and what happens when the session has ended. */
import { decodeProposal, type RequestBody } from "@quorate/client/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { settle } from "../transport/world.ts";
import { errorFrom, FakeCluster, passing } from "./fakeCluster.ts";

let nodes: FakeCluster;

afterEach(() => {
  expect(nodes.clock.timers).toBe(0);
});

/** Session, sequence and ackedBelow of a put. */
function originOf(body: RequestBody): { session: number; sequence: number; ackedBelow: number } | undefined {
  if (body.kind !== "execute") return undefined;
  const decoded = decodeProposal(body.proposal);
  if (decoded.kind === "malformed" || decoded.proposal.origin.kind === "anonymous") return undefined;
  return decoded.proposal.origin;
}

function endAllSessions(): void {
  nodes.store.sessions.clear();
}

describe("a session", () => {
  it("is opened by the first write, not by a read, and once for many writes", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    await cluster.kv.get("n");
    expect(nodes.store.sessions.size).toBe(0);
    await Promise.all([1, 2, 3].map((n) => cluster.kv.put(`key/${n}`, n)));
    expect(nodes.node("a").commands("openSession")).toBe(1);
    expect(nodes.store.sessions.size).toBe(1);
  });

  it("is renewed four times in its time to live, through the leader", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect({ sessionTtlMs: 8_000 });
    await cluster.kv.put("n", 1);
    await nodes.clock.pass(8_100);
    expect(nodes.node("a").asked.filter((body) => body.kind === "keepAlive")).toHaveLength(4);
    nodes.elect("b");
    await nodes.clock.pass(8_000);
    expect(nodes.node("b").asked.filter((body) => body.kind === "keepAlive").length).toBeGreaterThanOrEqual(
      4,
    );
  });

  it("acknowledges answers, so that the server may forget them", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    for (let n = 0; n < 50; n += 1) await cluster.kv.put("n", n);
    const [session] = nodes.store.sessions.values();
    expect(session?.answers.size).toBeLessThanOrEqual(1);
    expect(session?.ackedBelow).toBe(50);
  });

  it("sends a write again under its sequence as long as the server has no room for its answer", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    let refusals = 0;
    nodes.node("a").behave = ({ body }, honest) => {
      if (originOf(body) === undefined || refusals === 3) return honest();
      refusals += 1;
      return { kind: "executed", result: { kind: "answersFull" } };
    };
    const { revision } = await passing(nodes.clock, 5_000, cluster.kv.put("n", 1));
    expect([revision, refusals]).toEqual([1, 3]);
    expect(new Set(nodes.node("a").asked.map((body) => originOf(body)?.sequence))).toEqual(
      new Set([undefined, 1]),
    );
    refusals = -1_000;
    const error = await errorFrom(passing(nodes.clock, 9_000, cluster.kv.put("n", 2, { timeoutMs: 3_000 })));
    expect(error).toMatchObject({ code: "TIMED_OUT", outcome: "none" });
    refusals = 3;
  });

  it("has at most 1,024 writes unanswered; others wait for their turn", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    const held: RequestBody[] = [];
    nodes.node("a").behave = (request, honest) => {
      if (request.body.kind !== "execute") return honest();
      held.push(request.body);
      return "silence";
    };
    const first = Array.from({ length: 1_024 }, (_, n) =>
      errorFrom(cluster.kv.put(`key/${n}`, n, { timeoutMs: 500 })),
    );
    const behind = Promise.all(Array.from({ length: 500 }, (_, n) => cluster.kv.put(`behind/${n}`, n)));
    await settle();
    expect(held).toHaveLength(1_024);
    nodes.node("a").behave = (_request, honest) => honest();
    await passing(nodes.clock, 600, behind);
    for (const error of await Promise.all(first)) {
      expect(error).toMatchObject({ code: "TIMED_OUT", outcome: "unknown" });
    }
  });

  it("lets waiting writes go on as answers come", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    await Promise.all(Array.from({ length: 3_000 }, (_, n) => cluster.kv.put(`key/${n}`, n)));
    expect((await cluster.kv.list({ prefix: "key/" }, { limit: 10_000 })).entries).toHaveLength(3_000);
  });

  it("refuses writes beyond what may wait", async () => {
    nodes = await FakeCluster.start(1);
    const cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.node("a").behave = () => "silence";
    const writes = Array.from({ length: 1_024 + 8_192 + 3 }, (_, n) =>
      errorFrom(cluster.kv.put(`key/${n}`, n)),
    );
    await settle();
    const refused = await Promise.all(writes.slice(-3));
    for (const error of refused) expect(error).toMatchObject({ code: "OVERLOADED", outcome: "none" });
    await passing(nodes.clock, 2_000, cluster.close());
    await Promise.all(writes);
  });
});

describe("when the session has ended", () => {
  it("a write that may have been executed is unknown, and is never sent under another session", async () => {
    nodes = await FakeCluster.start(2);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.node("a").behave = (request, honest) => {
      if (request.body.kind !== "execute") return honest();
      honest();
      endAllSessions();
      nodes.elect("b");
      return "hang up";
    };
    const error = await errorFrom(passing(nodes.clock, 1_000, cluster.kv.put("n", 1)));
    expect(error).toMatchObject({ code: "SESSION_ENDED", outcome: "unknown" });
    expect(nodes.node("b").commands("put")).toBe(1);
    expect(nodes.node("b").commands("openSession")).toBe(0);
    nodes.node("a").behave = (_request, honest) => honest();
    await cluster.kv.put("n", 2);
    expect(nodes.node("b").commands("openSession")).toBe(1);
  });

  it("a write that certainly was not executed goes on under a new one", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    endAllSessions();
    await Promise.all([1, 2, 3].map((n) => cluster.kv.put(`key/${n}`, n)));
    expect(nodes.node("a").commands("openSession")).toBe(2);
    expect((await cluster.kv.list({ prefix: "key/" })).entries.map((entry) => entry.version)).toEqual([
      1, 1, 1,
    ]);
  });

  it("a renewal finds it out, and the next write opens another", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect({ sessionTtlMs: 4_000 });
    await cluster.kv.put("n", 0);
    endAllSessions();
    await nodes.clock.pass(1_100);
    await cluster.kv.put("n", 1);
    const origins = nodes
      .node("a")
      .asked.map(originOf)
      .filter((origin) => origin !== undefined);
    expect(origins.map((origin) => origin.sequence)).toEqual([1, 1]);
    expect(new Set(origins.map((origin) => origin.session)).size).toBe(2);
  });
});

describe("close", () => {
  it("ends the session at the cluster", async () => {
    nodes = await FakeCluster.start(1);
    const cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    await cluster.close();
    expect(nodes.store.sessions.size).toBe(0);
  });

  it("during an opening leaves nothing that goes on", async () => {
    nodes = await FakeCluster.start(1);
    const cluster = nodes.connect();
    nodes.node("a").behave = (request, honest) => (request.body.kind === "execute" ? "silence" : honest());
    const put = errorFrom(cluster.kv.put("n", 0));
    await settle();
    await cluster.close();
    expect(await put).toMatchObject({ code: "CLOSED", outcome: "none" });
  });
});
