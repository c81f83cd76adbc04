/** What a cluster object counts, and what it says of the cluster's health and its own, in virtual time. */
import { prometheusText } from "@quorate/client";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { LeaseWorld, ttlMs } from "./leaseWorld.ts";

const fast = { leaseDurationMs: ttlMs, renewDeadlineMs: 1_500, retryPeriodMs: 400 };

describe("the health of a cluster", () => {
  it("tells who leads, that a quorum answers, and how much is left of sessions and leases", async () => {
    const world = await LeaseWorld.open(sim, 61);
    const client = world.connect();
    await world.outcome(world.acquire(client, "x"));
    await world.run(5 * ttlMs);
    const health = await world.outcome(client.cluster.health());
    expect(health).toMatchObject({ isHealthy: true, hasQuorum: true, problems: [], warnings: [] });
    expect(health.leader).toBe(world.leader.name);
    expect(health.sessions).toHaveLength(1);
    expect(health.sessions[0]?.remainingMs).toBeGreaterThan(ttlMs / 4);
    expect(health.leases).toMatchObject([{ name: "x", status: "held", sinceProgressMs: null }]);
    expect(health.leases[0]?.heldMs).toBeGreaterThan(4 * ttlMs);
  });

  it("warns when one more loss would stop writes, and fails when a quorum is gone", async () => {
    const world = await LeaseWorld.open(sim, 62);
    const client = world.connect();
    const { cluster } = world.simulation;
    await world.outcome(client.cluster.kv.put("k", 1));
    const [first, second] = cluster.hosts.filter((host) => host !== world.leader);
    if (first !== undefined) cluster.crash(first, false);
    await world.run(1_000);
    const thin = await world.outcome(client.cluster.health());
    expect(thin).toMatchObject({ isHealthy: true, hasQuorum: true });
    expect(thin.warnings.join()).toMatch(/1 of 3 voters are away/);
    if (second !== undefined) cluster.crash(second, false);
    await world.run(2 * ttlMs);
    const gone = await world.outcome(client.cluster.health());
    expect(gone).toMatchObject({ isHealthy: false, hasQuorum: false });
    expect(gone.problems.join("|")).toMatch(/No quorum answers: .*\|Session \d+ may be over/);
    expect(client.cluster.metrics().sessions.open[0]?.remainingMs).toBe(0);
  });

  it("kubernetes#82960: fails as long as work goes on after its lease was lost", async () => {
    const world = await LeaseWorld.open(sim, 63);
    const client = world.connect();
    let settle = (): void => {};
    const work = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const leading = client.cluster.election("billing", fast).lead(() => work, { rejoin: false });
    const refused = expect(leading).rejects.toMatchObject({ code: "LEASE_LOST" });
    await world.run(1_000);
    expect((await world.outcome(client.cluster.health())).isHealthy).toBe(true);
    await world.outcome(client.cluster.lease.break("billing"));
    await world.run(3 * ttlMs);
    const health = await world.outcome(client.cluster.health());
    expect(health).toMatchObject({ isHealthy: false, hasQuorum: true });
    expect(health.problems[0]).toMatch(
      /^The work under the lease "billing" of term \d+ goes on, \d+ ms after that/,
    );
    settle();
    await world.run(1_000);
    await refused;
    expect((await world.outcome(client.cluster.health())).isHealthy).toBe(true);
    expect(client.cluster.metrics()).toMatchObject({
      leases: { held: [], acquired: 1, ended: { revoked: 1 } },
      overdueWork: [],
    });
  });

  it("warns of a lease that is lost again and again", async () => {
    const world = await LeaseWorld.open(sim, 64);
    const watcher = world.connect();
    for (let n = 0; n < 5; n += 1) {
      const client = world.connect();
      await world.outcome(world.acquire(client, "x"));
      world.kill(client);
      await world.run(2 * ttlMs);
    }
    const health = await world.outcome(watcher.cluster.health());
    expect(health.isHealthy).toBe(true);
    expect(health.warnings.join()).toMatch(/The lease "x" was lost 5 times within 5 minutes/);
    expect((await world.outcome(watcher.cluster.lease.history("x"))).map(({ end }) => end)).toEqual(
      Array.from({ length: 5 }, () => "expired"),
    );

    const busy = world.connect();
    for (let n = 0; n < 5; n += 1) {
      const lease = await world.outcome(world.acquire(busy, "y", { renewDeadlineMs: 300 }));
      await world.run(ttlMs, () => lease.status === "lost");
    }
    await world.run(100);
    const { warnings } = await world.outcome(watcher.cluster.health());
    expect(warnings.join()).toMatch(/The lease "y" was lost 5 times within 5 minutes/);
  });
});

describe("the metrics of a cluster object", () => {
  it("count requests by what they are, with their retries and redirects, and leases by how they ended", async () => {
    const world = await LeaseWorld.open(sim, 65);
    const client = world.connect();
    for (let n = 0; n < 10; n += 1) await world.outcome(client.cluster.kv.put("k", n));
    for (let n = 0; n < 7; n += 1) await world.outcome(client.cluster.kv.get("k"));
    await world.outcome((await world.outcome(world.acquire(client, "x"))).release());
    const calm = client.cluster.metrics();
    expect(calm.requests.read).toMatchObject({ answered: 7, failed: 0, underWay: 0, retries: 0 });
    // The session's opening and the lease's two are commands, too.
    expect(calm.requests.write).toMatchObject({ answered: 13, failed: 0, underWay: 0 });
    expect(calm.requests.renewal.answered).toBeGreaterThan(0);
    expect(calm.requests.write.latency.buckets.at(-1)).toEqual([10_000, 13]);
    expect(calm).toMatchObject({
      leaderEndpoint: world.leader.address,
      sessions: { opened: 1, expired: 0 },
      leases: { held: [], acquired: 1, ended: { released: 1 } },
    });
    world.simulation.cluster.crash(world.leader, false);
    await world.outcome(client.cluster.kv.put("k", "after"));
    const { requests } = client.cluster.metrics();
    expect(requests.write).toMatchObject({ answered: 14, failed: 0 });
    expect(requests.write.retries).toBeGreaterThan(0);
    expect(requests.write.latency.maxMs).toBeGreaterThan(calm.requests.write.latency.maxMs);
    const text = prometheusText(client.cluster.metrics());
    expect(text).toMatch(/^quorate_client_request_seconds_count\{kind="write"\} 14$/m);
    expect(text).toMatch(/^quorate_client_leases_ended_total\{reason="released"\} 1$/m);
  });

  it("tell failures by their codes", async () => {
    const world = await LeaseWorld.open(sim, 66);
    const client = world.connect();
    await world.outcome(client.cluster.kv.put("k", 1));
    const { cluster } = world.simulation;
    for (const host of cluster.hosts) cluster.crash(host, false);
    const late = client.cluster.kv.put("k", 2, { timeoutMs: 500 });
    await expect(world.outcome(late)).rejects.toMatchObject({ code: "TIMED_OUT" });
    expect(client.cluster.metrics().failures).toMatchObject({ TIMED_OUT: 1 });
  });
});
