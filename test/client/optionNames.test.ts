/** Options that a call does not take: refused by name, with where they belong. */
import { type Cluster, connect } from "@quorate/client";
import { clientOptions } from "@quorate/client/internal";
import { describe, expect, it } from "vitest";

/** Reaches nobody: what is refused is refused before anything is sent. */
function opened() {
  return connect({ endpoints: ["ws://127.0.0.1:1"], requestTimeoutMs: 50 });
}

/** Whatever its type says: plain JavaScript has none. */
type Loose = Record<string, (...given: readonly unknown[]) => unknown>;

function looseLock(cluster: Cluster): (...given: readonly unknown[]) => unknown {
  return cluster.lock as never;
}

async function refusalOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
  return "nothing was refused";
}

describe("an option that a call does not take", () => {
  it.each([
    ["election.lead", { ttlMs: 5 }, "it is called leaseDurationMs and given to cluster.election()"],
    ["election.lead", { candidate: "a" }, "it is given to cluster.election()"],
    ["election.campaign", { rejoin: false }, "it is given to election.lead()"],
    ["lock.acquire", { exitOnLossMs: 5 }, "it is given to lock.run()"],
    ["lock.acquire", { leaseDurationMs: 5 }, "here it is called ttlMs"],
    ["lock.acquire", { timeout: 5 }, "it takes timeoutMs"],
    ["kv.get", { ifRevision: 5 }, "it is given to kv.put()"],
    ["kv.get", { requestTimeoutMs: 5 }, "here it is called timeoutMs"],
    ["kv.get", { nonsense: 5 }, "it takes signal, timeoutMs, consistency, revision"],
  ])("of %s, such as %j, is told where it belongs", async (call, options, place) => {
    await using cluster = opened();
    const [subject, method] = call.split(".") as [string, string];
    const subjects: Readonly<Record<string, unknown>> = {
      election: cluster.election("x"),
      lock: cluster.lock("x"),
      kv: cluster.kv,
    };
    const target = subjects[subject] as Loose;
    const before = subject === "kv" ? ["key"] : method === "lead" ? [() => {}] : [];
    const name = Object.keys(options)[0];
    expect(await refusalOf(() => target[method]?.(...before, options))).toBe(
      `INVALID_OPTIONS: ${name} is no option of ${call}(): ${place}.`,
    );
  });

  it("is refused at once by what gives an object", () => {
    const cluster = opened();
    const election = (): unknown => cluster.election("x", { ttlMs: 5 } as never);
    expect(election).toThrow(
      /ttlMs is no option of cluster.election\(\): here it is called leaseDurationMs\./,
    );
    const lock = (): unknown => looseLock(cluster)("x", { ttlMs: 5 });
    expect(lock).toThrow(/ttlMs is no option of cluster.lock\(\): it is given to lock.acquire\(\)\./);
    const connecting = (): unknown => connect({ endpoints: [], ttlMs: 5 } as never);
    expect(connecting).toThrow(/ttlMs is no option of connect\(\): here it is called sessionTtlMs\./);
  });

  it("may be undefined, and the options left out", async () => {
    await using cluster = opened();
    expect(looseLock(cluster)("x", { ttlMs: undefined })).toBeDefined();
    expect(looseLock(cluster)("x", undefined)).toBeDefined();
  });

  it.each([
    [5_000, "a number"],
    [null, "null"],
    [["x"], "a list"],
  ])("is none where the options are %j", async (options, what) => {
    await using cluster = opened();
    expect(await refusalOf(() => cluster.lock("x").acquire(options as never))).toBe(
      `INVALID_OPTIONS: The options of lock.acquire() are an object, and ${what} was given.`,
    );
  });
});

/** A call of each, with the options in their place. */
const calls: Readonly<Record<string, readonly unknown[]>> = {
  "kv.get": ["k"],
  "kv.put": ["k", 1],
  "kv.delete": ["k"],
  "kv.list": [""],
  "kv.count": [""],
  "kv.deleteRange": ["k"],
  "kv.watch": ["k"],
  "kv.limit": [{}],
  "cluster.election": ["x"],
  "election.lead": [() => {}],
  "election.campaign": [],
  "election.candidates": [],
  "election.leader": [],
  "election.observe": [],
  "election.proclaim": [1],
  "election.resign": [],
  "cluster.lock": ["x"],
  "lock.acquire": [],
  "lock.tryAcquire": [],
  "lock.run": [() => {}],
  "cluster.using": ["x", 5_000, () => {}],
  "cluster.once": ["x", () => 1],
  "cluster.lease.acquire": ["x"],
  "cluster.lease.tryAcquire": ["x"],
  "cluster.lease.get": ["x"],
  "cluster.lease.list": [],
  "cluster.lease.candidates": ["x"],
  "cluster.lease.verify": ["x:exclusive:1"],
  "cluster.lease.history": ["x"],
  "cluster.lease.watch": ["x"],
  "cluster.lease.break": ["x"],
  "cluster.lease.grantAtOnce": [],
  "cluster.lease.requestHandover": ["x"],
  "members.list": [],
  "members.promote": ["a"],
  "members.demote": ["a"],
  "members.remove": ["a"],
  "members.move": ["a", "ws://127.0.0.1:1"],
  "members.change": [[]],
  "sessions.list": [],
  "sessions.close": [1],
  "cluster.status": [],
  "cluster.health": [],
  "cluster.snapshot": [],
  "cluster.transferLeadership": [],
};

/** Of objects that a running cluster gives: tried in test/kv/optionNames.test.ts. */
const held = /^(lease|txn|watch)\./;

describe("every call of a cluster object", () => {
  it("that takes options is tried here, or where there is a lease to call", () => {
    const untried = Object.keys(clientOptions).filter((call) => !held.test(call) && call !== "connect");
    expect(untried).toEqual(Object.keys(calls));
  });

  it.each(Object.entries(calls))("refuses a strange option: %s", async (call, before) => {
    await using cluster = opened();
    const path = call.replace(/^cluster\./, "").split(".");
    const roots: Readonly<Record<string, unknown>> = {
      ...cluster,
      ...(path.length > 1 && !call.startsWith("cluster.")
        ? { election: cluster.election("x"), lock: cluster.lock("x") }
        : {}),
    };
    const owner = path.length > 1 ? roots[path[0] as string] : roots;
    const act = (owner as Loose)[path.at(-1) as string] as Loose[string];
    expect(await refusalOf(() => act?.(...before, { strangeOption: 5 }))).toMatch(
      `INVALID_OPTIONS: strangeOption is no option of ${call}(): it takes `,
    );
  });
});

describe("what is asked for by name", () => {
  it.each<[string, (cluster: Cluster) => unknown, string]>([
    [
      "a limit",
      ({ kv }) => kv.limit({ quotaByte: 5 } as never),
      "quotaByte is no option of the limits of kv.limit(): it takes quotaBytes.",
    ],
    [
      "a condition of an operation",
      ({ kv }) =>
        kv
          .txn()
          .then({ put: "k", value: 1, ifRevision: 7 } as never)
          .commit(),
      "ifRevision is no option of a put of a transaction: what has to hold stands in if().",
    ],
    [
      "a part of an operation",
      ({ kv }) =>
        kv
          .txn()
          .then({ list: { prefix: "k" }, limits: 7 } as never)
          .commit(),
      "limits is no option of a list of a transaction: it takes limit.",
    ],
    [
      "a part of a compare",
      ({ kv }) =>
        kv
          .txn()
          .if({ key: "k", version: 0, modRevison: 7 } as never)
          .commit(),
      "modRevison is no option of a compare: it takes modRevision.",
    ],
    [
      "a bound of keys",
      ({ kv }) => kv.list({ prefix: "k", until: "l" } as never),
      "until is no option of a set of keys: it takes prefix, from, to.",
    ],
  ])("and is not there is refused: %s", async (_what, call, sentence) => {
    await using cluster = opened();
    expect(await refusalOf(() => call(cluster))).toBe(`INVALID_OPTIONS: ${sentence}`);
  });
});
