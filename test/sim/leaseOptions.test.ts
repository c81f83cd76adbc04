/** Options that make no sense are refused before anything is asked of the cluster. */
import type { LeaseOptions } from "@quorate/client";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { LeaseWorld } from "./leaseWorld.ts";

/** As an environment variable that is not set gives it: a deadline of it would never come. */
const noNumber = Number.NaN;

const refused: readonly (readonly [LeaseOptions, RegExp])[] = [
  [{ renewDeadlineMs: noNumber }, /renewDeadlineMs is NaN/],
  [{ renewDeadlineMs: 0 }, /renewDeadlineMs is 0/],
  [{ renewDeadlineMs: -5 }, /renewDeadlineMs is -5/],
  [{ renewDeadlineMs: 400 }, /Renewed every 500 ms, the lease would be lost between two renewals/],
  [{ renewDeadlineMs: 800, renewEveryMs: 800 }, /for 800 ms/],
  [{ ttlMs: noNumber }, /ttlMs is NaN/],
  [{ ttlMs: 0 }, /ttlMs is 0/],
  [{ renewEveryMs: noNumber }, /renewEveryMs is NaN/],
  [{ progressMs: noNumber }, /progressMs is NaN/],
  [{ lockDelayMs: noNumber }, /lockDelayMs is NaN/],
  [{ priority: noNumber }, /priority is NaN/],
  [{ preference: 1.5 }, /preference is 1.5/],
  [{ timeoutMs: noNumber }, /timeoutMs is NaN/],
];

describe("an acquire", () => {
  it.each(refused)("with %j is refused", async (options, sentence) => {
    const world = await LeaseWorld.open(sim, 91);
    const { cluster } = world.connect();
    const acquiring = cluster.lease.acquire("x", options);
    await expect(world.outcome(acquiring)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      outcome: "none",
      message: expect.stringMatching(sentence),
    });
    expect(await world.outcome(cluster.lease.get("x"))).toMatchObject({ state: "free", transitions: 0 });
  });

  it("whose holder renews it may have any deadline", async () => {
    const world = await LeaseWorld.open(sim, 92);
    const manual = { renewDeadlineMs: 400, renewEveryMs: Number.POSITIVE_INFINITY };
    const held = await world.outcome(world.acquire(world.connect(), "x", manual));
    expect(held.check().remainingMs).toBeLessThanOrEqual(400);
    await world.run(500);
    expect(held.status).toBe("lost");
  });
});

describe("work that is to end its process where it ignores the loss of its lease", () => {
  it.each([noNumber, -1])("is not begun with exitOnLossMs %s", async (exitOnLossMs) => {
    const world = await LeaseWorld.open(sim, 93);
    const { cluster } = world.connect();
    const works = [
      () => cluster.election("x").lead(() => 1, { exitOnLossMs }),
      () => cluster.lock("x").run(() => 1, { exitOnLossMs }),
    ];
    for (const work of works) {
      await expect(world.outcome(work())).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
    }
    expect(await world.outcome(cluster.lease.get("x"))).toMatchObject({ transitions: 0 });
  });
});
