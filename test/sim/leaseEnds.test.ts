/** What a holder is told of the end of its lease, and of what comes before it. */
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { LeaseWorld } from "./leaseWorld.ts";

/** Errors that nobody handled, instead of those who watch over tests. */
async function uncaughtIn(act: () => Promise<void>): Promise<string[]> {
  const kinds = ["uncaughtException", "unhandledRejection"] as const;
  const watchers = kinds.map((kind) => process.listeners(kind as "uncaughtException"));
  const seen: string[] = [];
  for (const kind of kinds) {
    process.removeAllListeners(kind);
    process.on(kind, (error: unknown) => seen.push(`${kind}: ${(error as Error).message}`));
  }
  try {
    await act();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    for (const [at, kind] of kinds.entries()) {
      process.removeAllListeners(kind);
      for (const watcher of watchers[at] ?? []) process.on(kind, watcher);
    }
  }
  return seen;
}

describe("a listener to jeopardy that throws", () => {
  it("is an unhandled rejection, and keeps no other lease of the session from being told", async () => {
    const world = await LeaseWorld.open(sim, 131);
    const [a, b] = [world.connect(20_000), world.connect()];
    const x = await world.outcome(world.acquire(a, "x"));
    const y = await world.outcome(world.acquire(a, "y"));
    const told: string[] = [];
    x.onJeopardy(() => {
      throw new Error("of the listener");
    });
    x.onJeopardy(() => told.push("x"));
    y.onJeopardy(() => told.push("y"));
    y.onJeopardy(() => told.push("removed"))();
    const uncaught = await uncaughtIn(async () => {
      await world.outcome(b.cluster.lease.break("x"));
      await world.run(100);
      await world.outcome(b.cluster.lease.break("y"));
      await world.run(100);
    });
    expect(told).toEqual(["x", "y"]);
    expect(y.handoverSignal.aborted).toBe(true);
    expect(uncaught).toEqual(["unhandledRejection: of the listener"]);
  });
});

describe("a lease that is over", () => {
  it("stays so for the first reason: a release after a close changes nothing, and rejects nothing", async () => {
    const world = await LeaseWorld.open(sim, 132);
    const a = world.connect();
    const held = await world.outcome(world.acquire(a, "x"));
    const leading = a.cluster.election("y").lead(async (lease) => {
      await using _given = lease;
      await new Promise((resolve) => lease.signal.addEventListener("abort", resolve, { once: true }));
      return "done";
    });
    const refused = expect(world.outcome(leading)).rejects.toMatchObject({ code: "CLOSED" });
    await world.run(500);
    await world.outcome(a.cluster.close());
    await world.outcome(held.release());
    expect(() => held.check()).toThrow(expect.objectContaining({ reason: "closed" }));
    expect(held.signal.reason).toMatchObject({ reason: "closed" });
    await refused;
  });
});
