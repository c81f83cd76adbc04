/** A user's own code in virtual time: the same cluster object, through pauses, partitions and crashes. */
import { setTimeout as sleepForReal } from "node:timers/promises";
import type { Cluster, Lease } from "@quorate/client";
import { QuorateError } from "@quorate/raft";
import { type VirtualWorld, virtualCluster } from "@quorate/sim";
import { describe, expect, it } from "vitest";

const ttlMs = 4_000;

/** Code under test: it knows nothing but a cluster object. Holds a role, and writes under its term. */
async function keepBilling(cluster: Cluster, name: string, seen: { runs: string[]; lost: string[] }) {
  for (;;) {
    try {
      await using lease = await cluster.lease.acquire("billing", { ttlMs, holder: name });
      for (let run = 1; ; run += 1) {
        lease.check();
        await cluster.kv.put("total", `${name} ${run}`, { fence: lease });
        seen.runs.push(name);
        await new Promise<void>((resolve) => void cluster.clock.after(500, resolve));
      }
    } catch (error) {
      seen.lost.push(`${name} ${(error as QuorateError).code}`);
    }
  }
}

describe("a virtual cluster", () => {
  it("gives the cluster object of `connect()`, and minutes pass in no time", async () => {
    const { value, virtualMs } = await virtualCluster({ nodes: 3 }, async (world) => {
      const a = world.connect("a");
      const { revision } = await a.kv.put("k", { n: 1 });
      await world.sleep(60_000);
      const pair = await world.connect("b").kv.get("k");
      expect(pair).toMatchObject({ value: { n: 1 }, modRevision: revision });
      const status = await world.node("n2").status();
      expect(status.nodes.map(({ id }) => id).toSorted()).toEqual(world.nodes);
      return a.clock.nowMs() > 60_000;
    });
    expect(value).toBe(true);
    expect(virtualMs).toBeGreaterThan(60_000);
  });

  it("runs the same way from the same seed, and another from another", async () => {
    const hashOf = async (seed: number): Promise<string> => {
      const run = await virtualCluster({ seed }, async (world) => {
        const a = world.connect("a");
        void keepBilling(a, "a", { runs: [], lost: [] });
        void keepBilling(world.connect("b"), "b", { runs: [], lost: [] });
        await world.sleep(3_000);
        world.pause("a", 8_000);
        world.crash(world.leader ?? "n1");
        await world.sleep(12_000);
      });
      return run.traceHash;
    };
    const hashes = [await hashOf(1), await hashOf(1), await hashOf(2)];
    expect(hashes[0]).toBe(hashes[1]);
    expect(hashes[0]).not.toBe(hashes[2]);
  });

  it("hands a role on from a holder that stands still, which finds out when it wakes", async () => {
    const seen = { runs: [] as string[], lost: [] as string[] };
    await virtualCluster({ seed: 3 }, async (world) => {
      void keepBilling(world.connect("a"), "a", seen);
      await world.until(() => seen.runs.length === 3);
      void keepBilling(world.connect("b"), "b", seen);
      world.pause("a", 3 * ttlMs);
      await world.until(() => seen.runs.includes("b"));
      expect(seen.runs).toEqual(["a", "a", "a", "b"]);
      expect(seen.lost).toEqual([]);
      await world.sleep(3 * ttlMs);
      expect(seen.lost).toEqual(["a LEASE_LOST"]);
      expect(seen.runs.slice(3)).not.toContain("a");
    });
  });

  it("lets no two believe in one lease, through partitions, crashes and clocks that drift", async () => {
    await virtualCluster({ seed: 4 }, async (world) => {
      const leases: Lease[] = [];
      const believers = (): number => leases.filter((lease) => lease.remainingMs() > 0).length;
      const hold = async (name: string): Promise<void> => {
        const cluster = world.connect(name);
        for (;;) {
          // Who is cut off while it waits loses its place, and asks again.
          const lease = await cluster.lease.acquire("role", { ttlMs }).catch(() => undefined);
          if (lease === undefined) continue;
          leases.push(lease);
          await new Promise((resolve) => lease.signal.addEventListener("abort", resolve));
        }
      };
      const names = ["a", "b", "c"];
      for (const name of names) void hold(name);
      world.always("at most one believes in the role", () => believers() <= 1);
      world.setClockRate("a", 0.985);
      await world.until(() => leases.length === 1);
      for (let round = 0; round < 6; round += 1) {
        world.partition([names[round % 3] as string]);
        const leader = world.leader as string;
        if (round % 2 === 0) world.crash(leader, { silent: true });
        await world.sleep(2 * ttlMs);
        world.heal();
        if (round % 2 === 0) world.start(leader);
        await world.sleep(1_000);
      }
      expect(leases.length).toBeGreaterThan(2);
      const terms = leases.map(({ term }) => term);
      expect(terms).toEqual(terms.toSorted((one, other) => one - other));
    });
  });

  it("stops a node that is removed, also one that was down meanwhile, each time that it is started", async () => {
    await virtualCluster({ seed: 9 }, async (world) => {
      const { members, kv } = world.connect("operator");
      const leader = world.leader as string;
      const [away = "", there = ""] = world.nodes.filter((name) => name !== leader);
      world.crash(away);
      await members.remove(away);
      await world.sleep(10_000);
      for (const _ of [1, 2]) {
        world.start(away);
        await world.sleep(15_000);
        expect(() => world.pause(away)).toThrow(/is down/);
      }
      await members.remove(there);
      await world.sleep(1_000);
      expect(() => world.pause(there)).toThrow(/is down/);
      expect(world.leader).toBe(leader);
      await kv.put("key", "one is left");
    });
  });

  it("runs elections and locks as they ship, also one whose work ignores that it was lost", async () => {
    const durations = { leaseDurationMs: ttlMs, renewDeadlineMs: 3_000, retryPeriodMs: 800 };
    await virtualCluster({ seed: 8 }, async (world) => {
      const led: string[] = [];
      for (const name of ["a", "b"]) {
        const election = world.connect(name).election("role", { ...durations, candidate: name });
        const exit = (): void => world.crash(name);
        void election.lead(() => new Promise<void>(() => led.push(name)), { exitOnLossMs: 100, exit });
      }
      await world.until(() => led.length === 1);
      const [first = ""] = led;
      world.partition([first]);
      await world.until(() => led.length === 2);
      expect(led[1]).not.toBe(first);
      await world.sleep(1_000);
      expect(() => world.pause(first)).toThrow(/is down/);
      const election = world.connect("c").election("role", durations);
      expect(await election.leader()).toMatchObject({ candidate: led[1] });
      const inOrder: number[] = [];
      const locked = ["d", "e", "f"].map((name, at) =>
        world
          .connect(name)
          .lock("once at a time")
          .run(async (lease) => {
            inOrder.push(at);
            await world.sleep(500);
            lease.check();
            inOrder.push(at);
          }),
      );
      await Promise.all(locked);
      expect(inOrder.filter((at, place) => place % 2 === 0 && inOrder[place + 1] === at)).toHaveLength(3);
    });
  });

  it("goes on after a crash, of a client and of a node, and a client may come back under its name", async () => {
    await virtualCluster({ seed: 5 }, async (world) => {
      const first = world.connect("a");
      await first.kv.put("here", 1, { attached: true });
      let answered = false;
      world.crash("a");
      void first.kv.get("here").finally(() => {
        answered = true;
      });
      const leader = world.leader as string;
      world.crash(leader);
      expect(() => world.node(leader)).toThrow(/down/);
      const again = world.connect("a", { requestTimeoutMs: 2_000 });
      await again.kv.put("k", 1);
      world.start(leader);
      await world.sleep(20_000);
      expect(await again.kv.get("here")).toBeUndefined();
      expect((await world.node(leader).kv.get("k"))?.value).toBe(1);
      expect(answered).toBe(false);
    });
  });

  it("cuts off whom it is told to, in one direction or both, until it heals", async () => {
    await virtualCluster({ seed: 6 }, async (world) => {
      const a = world.connect("a", { requestTimeoutMs: 500 });
      await a.kv.put("k", 1);
      world.partition(["a"]);
      await expect(a.kv.get("k")).rejects.toMatchObject({ code: "TIMED_OUT" });
      world.heal();
      await world.sleep(1_000);
      expect((await a.kv.get("k"))?.value).toBe(1);
      for (const node of world.nodes) world.cut(node, "a");
      await expect(a.kv.put("k", 2)).rejects.toMatchObject({ outcome: "unknown" });
      world.heal();
      await world.sleep(1_000);
      const [n1 = "", ...others] = world.nodes;
      world.partition([n1], others);
      const still = world.connect("b", { endpoints: [`ws://${n1}:7101`], requestTimeoutMs: 2_000 });
      await world.until(() => world.leader !== n1);
      expect((await still.kv.get("k", { consistency: "local" }))?.value).toBe(2);
    });
  });

  it("gives each process a clock of its own, which a suspension stops and a leap moves on", async () => {
    await virtualCluster({ seed: 7 }, async (world) => {
      const { clock } = world.connect("a");
      const passed = async (ms: number): Promise<readonly [number, number]> => {
        const before = [clock.nowMs(), clock.bootMs()] as const;
        await world.sleep(ms);
        return [clock.nowMs() - before[0], clock.bootMs() - before[1]];
      };
      expect(await passed(1_000)).toEqual([1_000, 1_000]);
      world.setClockRate("a", 1.5);
      expect(await passed(1_000)).toEqual([1_500, 1_500]);
      world.setClockRate("a", 1);
      const before = clock.nowMs();
      world.leapClock("a", 3_600_000);
      expect(clock.nowMs() - before).toBe(3_600_000);
      world.suspend("a", 500);
      await world.sleep(500);
      expect(await passed(500)).toEqual([500, 500]);
      expect(clock.bootMs() - clock.nowMs()).toBe(500);
    });
  });
});

describe("the end of a virtual cluster", () => {
  it("comes with the callback: what it gave, what it threw, and nothing runs on", async () => {
    let laps = 0;
    let kept: VirtualWorld | undefined;
    const { value } = await virtualCluster({}, async (world) => {
      kept = world;
      const a = world.connect("a");
      void (async () => {
        for (;;) {
          await a.kv.put("lap", laps);
          laps += 1;
        }
      })();
      await world.until(() => laps > 5);
      return "done";
    });
    expect(value).toBe("done");
    const lapsThen = laps;
    await sleepForReal(20);
    expect(laps).toBe(lapsThen);
    expect(() => kept?.sleep(1)).toThrow(/ended/);
    const failing = virtualCluster({}, async () => {
      throw new TypeError("mine");
    });
    await expect(failing).rejects.toThrow(new TypeError("mine"));
  });

  it("comes at the latest after `withinMs`, with what is still waited for", async () => {
    const stuck = virtualCluster({ withinMs: 5_000 }, async (world) => {
      await world.connect("a").lease.acquire("jobs");
      const waiting = world.connect("b").lease.acquire(["jobs", "more"]);
      world.crash("b");
      void world.connect("c").lock("jobs").acquire();
      await Promise.all([waiting, world.until(() => world.nodes.length === 4)]);
    });
    const error = await stuck.catch((thrown: unknown) => thrown as QuorateError);
    expect(error).toMatchObject({ code: "TIMED_OUT" });
    expect(String(error)).toMatch(/5000 ms.*withinMs/);
    expect(String(error)).toMatch(/ {2}b \(killed\): lease\.acquire\(\["jobs", "more"\]\), for \d{4} ms/);
    expect(String(error)).toMatch(/ {2}c: lock\("jobs"\)\.acquire\(\), for \d{4} ms/);
    expect(String(error)).toMatch(/world: until\(\(\) => world\.nodes\.length === 4\)/);
    const silent = virtualCluster({ withinMs: 1_000 }, () => new Promise(() => {}));
    await expect(silent).rejects.toThrow(/world\.outside/);
  });
});

describe("what has to hold always", () => {
  it("is asked for after every event, and ends the run where it does not hold", async () => {
    const run = virtualCluster({}, async (world) => {
      const a = world.connect("a");
      let value = 0;
      world.always("the value stays small", () => value < 3);
      for (;;) {
        await a.kv.put("k", value);
        value += 1;
      }
    });
    await expect(run).rejects.toMatchObject({
      code: "INVARIANT_BROKEN",
      message: expect.stringMatching(
        /^It does not hold at [\d.]+ ms of virtual time: the value stays small\.$/,
      ),
    });
    const throwing = virtualCluster({}, async (world) => {
      world.always("an assertion of any library", () => {
        expect(world.nowMs).toBeLessThan(2_000);
        return true;
      });
      await world.sleep(5_000);
    });
    await expect(throwing).rejects.toThrow(/less than 2000/);
  });
});

describe("real time in a virtual cluster", () => {
  it("is refused where the callback asks for it, or what it has begun, and nowhere else", async () => {
    const asks: readonly ((cluster: Cluster) => unknown)[] = [
      () => setTimeout(() => {}, 1),
      () => setInterval(() => {}, 1),
      () => sleepForReal(1),
      () => AbortSignal.timeout(1),
      (cluster) => new Promise<void>((done) => void cluster.clock.after(5, () => setImmediate(done))),
    ];
    for (const ask of asks) {
      const asking = virtualCluster({}, async (world) => {
        const elsewhere = world.connect("a");
        await Promise.resolve(ask(elsewhere)).catch(() => {});
        await world.sleep(10);
      });
      await expect(asking).rejects.toThrow(/virtual time.*world\.sleep/);
    }
    await expect(sleepForReal(1, "real again")).resolves.toBe("real again");
  });

  it("does not touch what others do meanwhile", async () => {
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 1);
    await virtualCluster({}, async (world) => {
      await world.outside(() => sleepForReal(30));
      await world.sleep(1_000);
    });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(2);
  });

  it("passes within `outside`, and virtual time stands still for so long", async () => {
    await virtualCluster({}, async (world) => {
      const beforeMs = world.nowMs;
      const both = [world.outside(() => sleepForReal(5, 1)), world.outside(async () => sleepForReal(15, 2))];
      expect(await Promise.all(both)).toEqual([1, 2]);
      expect(world.nowMs).toBe(beforeMs);
      const failing = world.outside(() => Promise.reject(new Error("no database")));
      await expect(failing).rejects.toThrow("no database");
      expect(world.nowMs).toBe(beforeMs);
    });
  });
});

describe("a world", () => {
  it("refuses names that nobody has, and what cannot be, in a sentence", async () => {
    await expect(virtualCluster({ nodes: 9 }, async () => {})).rejects.toThrow(/nodes must be/);
    await expect(virtualCluster({ size: 3 } as never, async () => {})).rejects.toThrow(
      /^size is no option of this call: it takes nodes, /,
    );
    await virtualCluster({}, async (world) => {
      const codes = [
        () => world.pause("x"),
        () => world.connect("n1"),
        () => world.partition(["n1"], ["n1", "n2"]),
        () => world.start("n1"),
        () => world.node("a"),
        () => world.setClockRate("n1", 0),
        () => world.connect("a", { ttl: 3 } as never),
      ].map((run) => {
        try {
          run();
          return "nothing";
        } catch (error) {
          return error instanceof QuorateError ? error.code : error;
        }
      });
      expect(codes).toEqual(codes.map(() => "INVALID_OPTIONS"));
      world.crash("n1");
      expect(() => world.pause("n1")).toThrow(/n1 is down/);
    });
  });
});
