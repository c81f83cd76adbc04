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
