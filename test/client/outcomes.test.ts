/** What a call says of its outcome when answers are lost, time runs out, a signal aborts, or the object closes. */
import { getEventListeners } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { settle } from "../transport/world.ts";
import { errorFrom, FakeCluster, failed, passing } from "./fakeCluster.ts";

let nodes: FakeCluster;

afterEach(async () => {
  expect(nodes.clock.timers).toBe(0);
});

describe("a write whose answer is lost", () => {
  it("is executed once, though it is sent to two leaders", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.node("a").behave = (request, honest) => {
      if (request.body.kind !== "execute") return honest();
      honest();
      nodes.elect("b");
      return "hang up";
    };
    const { revision } = await passing(nodes.clock, 1_000, cluster.kv.put("n", 1));
    expect(nodes.node("b").commands("put")).toBe(1);
    expect(await cluster.kv.get("n")).toMatchObject({ value: 1, version: 2, modRevision: revision });
  });

  it("is not sent again without a session, and says that its outcome is unknown", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect({ session: false });
    nodes.node("a").behave = (request, honest) => {
      if (request.body.kind !== "execute") return honest();
      nodes.elect("b");
      return "hang up";
    };
    const error = await errorFrom(passing(nodes.clock, 1_000, cluster.kv.put("n", 1)));
    expect(error).toMatchObject({ code: "CONNECTION_FAILED", outcome: "unknown" });
    expect(nodes.node("b").commands()).toBe(0);
  });

  it("is unknown at the end of its time, and tells what each endpoint said", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.node("a").behave = (request, honest) => (request.body.kind === "execute" ? "silence" : honest());
    const error = await errorFrom(passing(nodes.clock, 600, cluster.kv.put("n", 1, { timeoutMs: 500 })));
    expect(error).toMatchObject({ code: "TIMED_OUT", outcome: "unknown" });
    expect(error.message).toContain("ws://10.0.0.1:7101: it leads in term 1");
    nodes.node("a").behave = (_request, honest) => honest();
  });
});

describe("what is unknown", () => {
  it("says where to look: who leads after a transfer, who is there after the end of a session", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.node("a").behave = ({ body }, honest) =>
      body.kind === "transfer" || body.kind === "execute" ? "silence" : honest();
    const told = async (call: Promise<unknown>): Promise<string> =>
      (await errorFrom(passing(nodes.clock, 600, call))).message;
    const options = { timeoutMs: 500 };
    expect(await told(cluster.transferLeadership(options))).toContain("to see who leads");
    expect(await told(cluster.sessions.close(7, options))).toContain("list the sessions to see");
    expect(await told(cluster.kv.put("n", 1, options))).toContain("read the key to see");
    nodes.node("a").behave = (_request, honest) => honest();
  });
});

describe("a write that certainly did nothing", () => {
  it("is sent again, also without a session", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect({ session: false });
    await cluster.kv.put("n", 0);
    nodes.elect("c");
    await passing(nodes.clock, 1_000, cluster.kv.put("n", 1));
    let refusals = 2;
    nodes.node("c").behave = (request, honest) => {
      if (request.body.kind !== "execute" || refusals === 0) return honest();
      refusals -= 1;
      return failed("OVERLOADED", { retryable: true });
    };
    await passing(nodes.clock, 1_000, cluster.kv.put("n", 2));
    expect(nodes.node("c").commands("put")).toBe(4);
  });

  it("has the outcome none when no leader was found in time", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect();
    nodes.elect("");
    const error = await errorFrom(passing(nodes.clock, 6_000, cluster.kv.put("n", 1)));
    expect(error).toMatchObject({ code: "TIMED_OUT", outcome: "none" });
    expect(error.message).toContain("ws://10.0.0.3:7101: it knows no leader in term 2");
  });

  it("is told why it was refused for as long as it was tried, and by whose bound", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.onMembers = () => failed("CHANGE_REFUSED", { retryable: true });
    const error = await errorFrom(passing(nodes.clock, 6_000, cluster.members.remove("a")));
    expect(error).toMatchObject({ code: "CHANGE_REFUSED", outcome: "none", retryable: true });
    expect(error.message).toContain("It was asked for again and again for 5000 ms");
  });

  it("is told also where the last of its tries was not answered", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    let tries = 0;
    nodes.node("a").behave = (request, honest) => {
      if (request.body.kind !== "changeMembers") return honest();
      tries += 1;
      return tries < 3 ? failed("CHANGE_REFUSED", { retryable: true }) : "silence";
    };
    const error = await errorFrom(passing(nodes.clock, 6_000, cluster.members.remove("a")));
    expect(error).toMatchObject({ code: "TIMED_OUT", outcome: "unknown" });
    expect(error.message).toMatch(/list the members to see.*Refused at last: /);
  });

  it("has the outcome none when nobody listens", async () => {
    nodes = new FakeCluster(2);
    await using cluster = nodes.connect();
    const error = await errorFrom(passing(nodes.clock, 6_000, cluster.kv.put("n", 1)));
    expect(error).toMatchObject({ code: "TIMED_OUT", outcome: "none", retryable: true });
    expect(error.message).toContain("Nobody listens at ws://10.0.0.2:7101");
  });

  it("fails at once when every node refuses this client", async () => {
    nodes = await FakeCluster.start(2);
    for (const node of nodes.nodes) {
      node.answerHello = () => ({ kind: "refuse", code: "SECRET", reason: "You do not know the secret." });
    }
    await using cluster = nodes.connect();
    const error = await errorFrom(passing(nodes.clock, 300, cluster.kv.put("n", 1)));
    expect(error).toMatchObject({ code: "REFUSED", outcome: "none" });
    expect(error.message).toContain("You do not know the secret.");
  });

  it("is final when the leader says that it never can succeed", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect({ session: false });
    nodes.node("a").behave = (request, honest) =>
      request.body.kind === "execute" ? failed("INVALID_ARGUMENT") : honest();
    expect(await errorFrom(cluster.kv.put("n", 1))).toMatchObject({
      code: "INVALID_ARGUMENT",
      outcome: "none",
    });
    expect(nodes.node("a").commands()).toBe(1);
  });
});

describe("a signal", () => {
  it("that aborted before the call lets nothing be sent", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    const call = cluster.kv.put("n", 1, { signal: AbortSignal.abort(new Error("no")) });
    expect(await errorFrom(call)).toMatchObject({ code: "ABORTED", outcome: "none" });
    expect(nodes.node("a").asked).toEqual([]);
  });

  it("ends a write that was sent with an unknown outcome, a read with none", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.node("a").behave = () => "silence";
    const controller = new AbortController();
    const { signal } = controller;
    const put = errorFrom(cluster.kv.put("n", 1, { signal }));
    const get = errorFrom(cluster.kv.get("n", { signal }));
    await settle();
    controller.abort(new Error("enough"));
    expect(await put).toMatchObject({ code: "ABORTED", outcome: "unknown", cause: signal.reason });
    expect(await get).toMatchObject({ code: "ABORTED", outcome: "none" });
    nodes.node("a").behave = (_request, honest) => honest();
  });

  it("is let go of when its call is over", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    const { signal } = new AbortController();
    for (let n = 0; n < 20; n += 1) await cluster.kv.put("n", n, { signal });
    await cluster.status({ signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("close", () => {
  it("ends what is under way: unknown where it was sent, none where it was not", async () => {
    nodes = await FakeCluster.start(1);
    const cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.node("a").behave = (request, honest) => (request.body.kind === "execute" ? "silence" : honest());
    const sent = errorFrom(cluster.kv.put("n", 1));
    await settle();
    nodes.node("a").behave = (_request, honest) => honest();
    const unsent = errorFrom(cluster.kv.put("n", 2));
    const closed = cluster.close();
    expect(await sent).toMatchObject({ code: "CLOSED", outcome: "unknown" });
    expect(await unsent).toMatchObject({ code: "CLOSED", outcome: "none" });
    expect(cluster.close()).toBe(closed);
    await closed;
    expect(await errorFrom(cluster.kv.get("n"))).toMatchObject({ code: "CLOSED", outcome: "none" });
    expect(nodes.store.sessions.size).toBe(0);
    await settle();
    expect(nodes.node("a").connections).toBe(0);
  });

  it("does not wait long for a cluster that does not answer", async () => {
    nodes = await FakeCluster.start(1);
    const cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.node("a").behave = () => "silence";
    await passing(nodes.clock, 1_000, cluster.close());
    await settle();
    expect(nodes.node("a").connections).toBe(0);
  });
});
