/** Many sessions of one cluster object: renewed together, each by itself where it has to be. */
import type { Lease } from "@quorate/client";
import type { ClientCluster } from "@quorate/client/internal";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeCluster, passing } from "./fakeCluster.ts";

const ttlMs = 8_000;

let nodes: FakeCluster;
let cluster: ClientCluster;
let leases: Lease[];

/** Each in a session of its own, since its time to live is another than that of the cluster object. */
beforeEach(async () => {
  nodes = await FakeCluster.start(2);
  cluster = nodes.connect({ sessionTtlMs: 600_000 });
  const acquired = Array.from({ length: 200 }, (_, n) => cluster.lease.acquire(`lease/${n}`, { ttlMs }));
  leases = await passing(nodes.clock, 1_000, Promise.all(acquired));
  for (const node of nodes.nodes) node.asked.length = 0;
});

afterEach(async () => {
  await passing(nodes.clock, 2_000, cluster.close());
  expect(nodes.clock.timers).toBe(0);
});

function asked(kind: string, id: string = "a"): number {
  return nodes.node(id).asked.filter((body) => body.kind === kind).length;
}

describe("sessions that are due together", () => {
  it("are renewed by one request, four times in their time to live", async () => {
    await nodes.clock.pass(ttlMs + 100);
    expect(leases.map(({ status }) => status).filter((status) => status !== "held")).toEqual([]);
    expect(asked("renew")).toBe(0);
    expect(asked("renewAll")).toBeGreaterThanOrEqual(4);
    expect(asked("renewAll")).toBeLessThanOrEqual(8);
    for (const lease of leases) expect(lease.remainingMs()).toBeGreaterThan(ttlMs / 2);
  });

  it("are confirmed by the next leader, when the first is no leader any more", async () => {
    nodes.elect("b");
    await nodes.clock.pass(2 * ttlMs);
    expect(asked("renewAll", "b")).toBeGreaterThanOrEqual(4);
    for (const lease of leases) expect(lease.remainingMs()).toBeGreaterThan(ttlMs / 2);
  });

  it("are each asked for alone where the answer leaves them out, and only then extended", async () => {
    const [apart] = leases as [Lease];
    const session = sessionOf(apart);
    nodes.node("a").behave = ({ body }, honest) => {
      if (body.kind === "renewAll" && body.sessions.includes(session)) {
        return { kind: "renewedAll", apart: [session] };
      }
      return body.kind === "renew" && body.session === session ? "silence" : honest();
    };
    await nodes.clock.pass(ttlMs + 100);
    expect(asked("renew")).toBeGreaterThanOrEqual(3);
    expect(apart.status).toBe("lost");
    expect(leases.filter(({ status }) => status !== "held")).toEqual([apart]);
  });

  it("learn that one of them has ended, and the others go on", async () => {
    const [gone] = leases as [Lease];
    nodes.store.sessions.delete(sessionOf(gone));
    await nodes.clock.pass(ttlMs / 4 + 100);
    expect(gone.status).toBe("lost");
    expect(leases.filter(({ status }) => status !== "held")).toEqual([gone]);
  });

  it("are lost in their time where no answer comes", async () => {
    nodes.node("a").behave = ({ body }, honest) => (body.kind === "renewAll" ? "silence" : honest());
    await nodes.clock.pass(ttlMs + 100);
    expect(leases.filter(({ status }) => status !== "lost")).toEqual([]);
  });

  it("are renewed one by one at a node that does not know the request", async () => {
    const message = "This node does not know it.";
    nodes.node("a").behave = ({ body }, honest) =>
      body.kind === "renewAll"
        ? {
            kind: "failed",
            failure: { code: "REFUSED", message, retryable: false, outcome: "none", leaderEndpoint: "" },
          }
        : honest();
    await nodes.clock.pass(ttlMs + 100);
    expect(asked("renew")).toBeGreaterThanOrEqual(4 * 200);
    expect(leases.filter(({ status }) => status !== "held")).toEqual([]);
  });

  it("are not renewed any more once they are released", async () => {
    await passing(nodes.clock, 1_000, Promise.all(leases.map((lease) => lease.release())));
    nodes.node("a").asked.length = 0;
    await nodes.clock.pass(ttlMs);
    expect(asked("renewAll") + asked("renew")).toBe(0);
  });
});

function sessionOf(lease: Lease): number {
  const session = nodes.store.leases.get(lease.name)?.grant?.session;
  if (session === undefined) throw new Error(`nobody holds ${lease.name}`);
  return session;
}
