/** Leases of a machine that sleeps: its timers count no sleep, and the deadline does. */
import { decodeProposal, type RequestBody } from "@quorate/client/protocol";
import { describe, expect, it } from "vitest";
import { settle } from "../transport/world.ts";
import { FakeCluster, type FakeNode, passing } from "./fakeCluster.ts";

const sessionTtlMs = 2_000;

/** The first request of that kind is answered when this is called, and nothing after it any more. */
function lastAnswer(node: FakeNode, isIt: (body: RequestBody) => boolean): () => void {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeldBack = false;
  let isOver = false;
  node.behave = ({ body }, honest) => {
    if (isOver) return "silence";
    if (isHeldBack || !isIt(body)) return honest();
    isHeldBack = true;
    return released.then(honest);
  };
  return () => {
    isOver = true;
    release();
  };
}

function isClaim(body: RequestBody): boolean {
  if (body.kind !== "execute") return false;
  const decoded = decodeProposal(body.proposal);
  return decoded.kind === "proposal" && decoded.proposal.command.kind === "claimLease";
}

describe("the signal of a lease aborts in time", () => {
  it("where the machine slept between the confirming renewal and the answer to the claim", async () => {
    const nodes = await FakeCluster.start(1);
    const { clock } = nodes;
    const [a, b] = [nodes.connect({ sessionTtlMs }), nodes.connect({ sessionTtlMs })];
    const first = await passing(clock, 5_000, a.lease.acquire("x"));
    const waiting = b.lease.acquire("x");
    await settle();
    const answer = lastAnswer(nodes.node("a"), isClaim);
    await first.release();
    await clock.pass(sessionTtlMs / 4);
    clock.sleep(0.7 * sessionTtlMs);
    answer();
    const second = await passing(clock, 10, waiting);
    expect(second.signal.aborted).toBe(false);
    await clock.pass(second.remainingMs());
    expect(second.signal.aborted).toBe(true);
    await passing(clock, 60_000, Promise.all([a.close(), b.close()]));
  });

  it("where it slept while a renewal was under way that is answered then", async () => {
    const nodes = await FakeCluster.start(1);
    const { clock } = nodes;
    const cluster = nodes.connect({ sessionTtlMs });
    const lease = await passing(clock, 5_000, cluster.lease.acquire("x"));
    const answer = lastAnswer(nodes.node("a"), ({ kind }) => kind.startsWith("renew"));
    await clock.pass(sessionTtlMs / 4);
    clock.sleep(0.8 * sessionTtlMs);
    answer();
    await settle();
    expect(lease.signal.aborted).toBe(false);
    await clock.pass(lease.remainingMs());
    expect(lease.signal.aborted).toBe(true);
    await passing(clock, 60_000, cluster.close());
  });
});
