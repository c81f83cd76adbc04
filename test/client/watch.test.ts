/** The client's side of a watch, at nodes that do what the test says. */
import type { ChangeEvent } from "@quorate/client";
import type { ResponseBody } from "@quorate/client/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { errorFrom, FakeCluster } from "./fakeCluster.ts";

let nodes: FakeCluster;

beforeEach(async () => {
  nodes = await FakeCluster.start(3);
});

afterEach(() => {
  expect(nodes.clock.timers).toBe(0);
});

/** Each node answers a watch with what `answer` gives for the `n`th request of all, from 0. */
function onWatch(answer: (n: number) => ResponseBody | "silence" | "hang up"): () => number {
  let asked = 0;
  for (const node of nodes.nodes) {
    node.behave = (request, honest) => {
      if (request.body.kind !== "watch") return request.body.kind === "unwatch" ? "silence" : honest();
      asked += 1;
      return answer(asked - 1);
    };
  }
  return () => asked;
}

const overloaded: ResponseBody = {
  kind: "failed",
  failure: { code: "OVERLOADED", message: "Full.", retryable: true, outcome: "none", leaderEndpoint: "" },
};
const refused: ResponseBody = {
  kind: "failed",
  failure: { code: "REFUSED", message: "Never.", retryable: false, outcome: "none", leaderEndpoint: "" },
};

async function passing<T>(promise: Promise<T>, durationMs: number): Promise<T> {
  const [result] = await Promise.all([promise, nodes.clock.pass(durationMs)]);
  return result;
}

describe("a watch that its nodes refuse for a while", () => {
  it("goes on asking, however short a request of its client may take", async () => {
    const asked = onWatch((n) => (n < 14 ? overloaded : { kind: "watching", revision: 7 }));
    const cluster = nodes.connect({ requestTimeoutMs: 100 });
    const watch = cluster.kv.watch("k");
    expect(await passing(watch.started({ timeoutMs: 20_000 }), 20_000)).toEqual({ revision: 7 });
    expect(asked()).toBe(15);
    await cluster.close();
  });

  it("asks from where it was after its connection is gone, and tells what it then gets once", async () => {
    const froms: number[] = [];
    const answers: (ResponseBody | "hang up")[] = [
      { kind: "watching", revision: 4 },
      "hang up",
      { kind: "watching", revision: 9 },
    ];
    for (const node of nodes.nodes) {
      node.behave = (request, honest) => {
        if (request.body.kind !== "watch") return request.body.kind === "unwatch" ? "silence" : honest();
        froms.push(request.body.from);
        return answers[froms.length - 1] ?? "silence";
      };
    }
    const cluster = nodes.connect();
    const watch = cluster.kv.watch("k");
    await passing(watch.started(), 1_000);
    for (const node of nodes.nodes) {
      await node.stop();
      await node.start();
    }
    await nodes.clock.pass(10_000);
    expect(froms).toEqual([0, 5, 5]);
    await cluster.close();
  });

  it("ends with the reason where it is refused for good, or where the answer makes no sense", async () => {
    onWatch(() => refused);
    const cluster = nodes.connect();
    expect(await errorFrom(passing(cluster.kv.watch("k").next(), 1_000))).toMatchObject({ code: "REFUSED" });
    onWatch(() => ({ kind: "keptAlive", alive: true }));
    const error = await errorFrom(passing(cluster.kv.watch("k").next(), 1_000));
    expect(error.message).toContain("makes no sense");
    await cluster.close();
  });

  it("says where to go on when its node says that it is too slow", async () => {
    onWatch(() => ({ kind: "overflowed", revision: 12 }));
    const cluster = nodes.connect();
    const error = await errorFrom(passing(cluster.kv.watch("k").next(), 1_000));
    expect(error).toMatchObject({ code: "OVERFLOW", resumeFrom: 12, retryable: true, outcome: "none" });
    await cluster.close();
  });
});

describe("a watch that nobody reads", () => {
  it("keeps no more than a window, however often its connection is lost, and goes on when it is read", async () => {
    const froms: number[] = [];
    for (const node of nodes.nodes) {
      node.behave = ({ body }, honest) => {
        if (body.kind !== "watch") return body.kind === "unwatch" ? "silence" : honest();
        froms.push(body.from);
        const value = new Uint8Array(100_000);
        const pair = { key: "k", value, format: "bytes" as const, createRevision: 1, version: 1 };
        const revision = Math.max(1, body.from);
        const changes = [{ key: "k", pair: { ...pair, modRevision: revision }, previous: undefined }];
        return { kind: "changed", revision, changes, more: false };
      };
    }
    const cluster = nodes.connect();
    const watch = cluster.kv.watch("k");
    for (let times = 0; times < 20; times += 1) {
      await nodes.clock.pass(5_000);
      for (const node of nodes.nodes) {
        await node.stop();
        await node.start();
      }
    }
    expect(froms).toEqual([0, 2, 3]);
    const revisions: number[] = [];
    for (let n = 0; n < 3; n += 1) revisions.push(((await watch.next()).value as ChangeEvent).revision);
    await nodes.clock.pass(5_000);
    expect([revisions, froms]).toEqual([
      [1, 2, 3],
      [0, 2, 3, 4],
    ]);
    await cluster.close();
  });
});

describe("a watch whose node falls silent", () => {
  it("is given to another one after a sign of life was asked for and did not come", async () => {
    const asked = onWatch((n) => ({ kind: "watching", revision: n }));
    const cluster = nodes.connect();
    await passing(cluster.kv.watch("k").started(), 1_000);
    for (const node of nodes.nodes) {
      const behave = node.behave;
      node.behave = (request, honest) =>
        request.body.kind === "status" ? "silence" : behave(request, honest);
    }
    await nodes.clock.pass(3_000);
    expect(asked()).toBe(1);
    await nodes.clock.pass(4_000);
    expect(asked()).toBeGreaterThan(1);
    await cluster.close();
  });
});

describe("a watch at nodes that were removed, and stand as if nothing were the matter", () => {
  it("comes to one that serves it, though connections stand to the others alone", async () => {
    nodes = await FakeCluster.start(5);
    onWatch(() => overloaded);
    const serving = nodes.nodes.slice(2);
    for (const node of serving) await node.stop();
    const cluster = nodes.connect();
    const watch = cluster.kv.watch("k");
    await nodes.clock.pass(5_000);
    for (const node of serving) {
      node.behave = ({ body }, honest) =>
        body.kind === "watch"
          ? { kind: "watching", revision: 7 }
          : body.kind === "unwatch"
            ? "silence"
            : honest();
      await node.start();
    }
    expect(await passing(watch.started({ timeoutMs: 5_000 }), 5_000)).toEqual({ revision: 7 });
    await cluster.close();
  });
});
