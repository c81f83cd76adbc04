/** How leases end, case by case: with their session, by a break, after a delay; and what is refused then. */
import { type Command, maxKeysOfSession } from "@quorate/client/protocol";
import { getLease, getPair, hashState, isAlive, leaseSetOf } from "@quorate/kv/machine";
import { beforeEach, describe, expect, it } from "vitest";
import { always, createLog, type Log, put } from "./log.ts";
import { due, expire, Party, takenTerm } from "./party.ts";

let log: Log;
let a: Party;
let b: Party;
let c: Party;

beforeEach(() => {
  log = createLog();
  [a, b, c] = [new Party(log), new Party(log), new Party(log)];
});

function holderOf(name: string): number {
  return getLease(log.state, name).session;
}

describe("the end of a session", () => {
  it("takes its keys, its leases and its places in one revision, and grants in the same entry", () => {
    a.run({ ...put("here/a", "1"), attached: true } as Command);
    a.run({ ...put("here/b", "1"), attached: true } as Command);
    log.run(put("other", "1"));
    a.acquire("x");
    a.acquire("y");
    b.acquire("x");
    const before = log.state.revision;
    expire(log, a);
    expect(log.state.revision).toBe(before + 1);
    expect([getPair(log.state, "here/a"), getPair(log.state, "here/b")]).toEqual([undefined, undefined]);
    expect(getPair(log.state, "other")?.modRevision).toBe(3);
    expect(getLease(log.state, "x")).toMatchObject({ session: b.id, term: before + 1 });
    expect(getLease(log.state, "y").state).toBe("free");
  });

  it("of several in one entry comes before any grant: none of them gets what another had", () => {
    a.acquire("x");
    b.acquire("x");
    c.acquire("x");
    expire(log, a, b);
    expect(getLease(log.state, "x")).toMatchObject({ session: c.id, term: 2, transitions: 2 });
  });

  it("is not brought by an expiry that does not know of its last logged renewal", () => {
    log.run({ kind: "renewSessions", sessions: [a.id] });
    expire(log, a);
    expect(isAlive(log.state, a.id)).toBe(true);
    log.run({ kind: "expireSessions", office: log.term, sessions: [{ session: a.id, renewals: 1 }] });
    expect(isAlive(log.state, a.id)).toBe(false);
  });

  it("by others is refused while it holds a lease: its process would go on believing", () => {
    a.acquire("x");
    expect(log.run({ kind: "closeSession", session: a.id })).toMatchObject({ kind: "refused" });
    expect(b.run({ kind: "closeSession", session: a.id })).toMatchObject({ kind: "refused" });
    expect(a.run({ kind: "closeSession", session: a.id })).toEqual({ kind: "sessionClosed", existed: true });
    expect(log.run({ kind: "closeSession", session: b.id })).toEqual({
      kind: "sessionClosed",
      existed: true,
    });
  });

  it("leaves a key alone that was written by somebody else since", () => {
    a.run({ ...put("k", "1"), attached: true } as Command);
    b.run(put("k", "2"));
    expire(log, a);
    expect(getPair(log.state, "k")?.version).toBe(2);
  });
});

describe("keys that go with a session", () => {
  function attach(key: string): Command {
    return { ...put(key, "1"), attached: true } as Command;
  }

  /** As many as it may have, with a sequence that acknowledges all before it. */
  function fill(): void {
    for (let n = 1; n <= maxKeysOfSession; n += 1) {
      a.sequence = n;
      log.runIn({ session: a.id, sequence: n, ackedBelow: n }, attach(`here/${n}`));
    }
  }

  it("have a limit, from the version on that bounds what one entry does", () => {
    fill();
    expect(a.run(attach("one more")).kind).toBe("put");
    log.run({ kind: "delete", key: "one more", condition: always });
    log.run({ kind: "raiseVersion", office: log.term, version: 3 });
    const transaction = { kind: "transaction", compares: [], onFailure: [] } as const;
    const op = { kind: "put", key: "one more", value: new Uint8Array(1), format: "bytes" } as const;
    expect(a.run(attach("one more")).kind).toBe("refused");
    const refused = a.run({ ...transaction, onSuccess: [{ ...op, attached: true }] });
    expect(refused).toMatchObject({
      kind: "refused",
      reason: `The session would have ${maxKeysOfSession + 1} keys attached to it, above its limit of ${maxKeysOfSession}. Delete some, or attach them to more sessions.`,
    });
    expect(log.state.pairs.has("one more")).toBe(false);
    // Those that it has are written as ever, and so is what is of no session, or of another one.
    expect(a.run(attach("here/1")).kind).toBe("put");
    expect(a.run({ ...transaction, onSuccess: [op] }).kind).toBe("transacted");
    expect(b.run(attach("here/2")).kind).toBe("put");
    expect(a.run(attach("one more")).kind).toBe("put");
  });
});

describe("silence", () => {
  it("adds up as leaders mark it, and a logged renewal clears it", () => {
    const mark = (renewals: number, office = log.term) =>
      log.run({ kind: "markSilence", office, sessions: [{ session: a.id, renewals }] });
    const silentMs = () => log.state.sessions.get(a.id)?.silentMs;
    mark(0);
    expect(silentMs()).toBe(2_000);
    mark(0);
    expect(silentMs()).toBe(4_000);
    mark(0);
    expect(silentMs()).toBe(5_000);
    log.run({ kind: "renewSessions", sessions: [a.id] });
    expect(silentMs()).toBe(0);
    mark(0);
    mark(1, log.term + 1);
    expect(silentMs()).toBe(0);
    mark(1);
    expect(silentMs()).toBe(2_000);
  });
});

describe("a break", () => {
  it("marks the lease as ending; it is granted anew only when the leader says that its time is over", () => {
    a.acquire("x");
    b.acquire("x");
    log.run({ kind: "breakLease", name: "x", afterMs: 0, force: false });
    expect(getLease(log.state, "x")).toMatchObject({ state: "ending", session: a.id, term: 1 });
    expect(leaseSetOf(log.state, a.id)?.leases[0]).toMatchObject({ term: 1, ending: "revoked" });
    due(log, "finish", "x", 9);
    expect(holderOf("x")).toBe(a.id);
    due(log, "finish", "x", 1);
    expect(holderOf("x")).toBe(b.id);
  });

  it("with a delay asks the holder first, and marks it when the leader says so", () => {
    a.acquire("x");
    log.run({ kind: "breakLease", name: "x", afterMs: 500, force: false });
    expect(getLease(log.state, "x")).toMatchObject({ state: "held", handover: true });
    due(log, "finish", "x", 1);
    due(log, "revoke", "x", 1);
    expect(getLease(log.state, "x")).toMatchObject({ state: "ending", session: a.id });
    a.release("x", 1);
    expect(getLease(log.state, "x").state).toBe("free");
  });

  it("with force grants at once", () => {
    a.acquire("x", { lockDelayMs: 1_000 });
    b.acquire("x");
    expect(log.run({ kind: "breakLease", name: "x", afterMs: 0, force: true })).toEqual({
      kind: "leaseDone",
      term: 1,
    });
    expect(getLease(log.state, "x")).toMatchObject({ session: b.id, term: 2 });
    expect(log.run({ kind: "breakLease", name: "free", afterMs: 0, force: true }).kind).toBe("leaseNotHeld");
  });

  it("is over for a lease that its holder does not know of yet", () => {
    a.acquire("x");
    b.acquire("x");
    c.acquire("x");
    a.release("x", 1);
    log.run({ kind: "breakLease", name: "x", afterMs: 0, force: false });
    expect(holderOf("x")).toBe(c.id);
  });
});

describe("a session that no silence ends", () => {
  it("is ended by no expiry and marked by no silence, but by its own close, or a break by force of its last lease", () => {
    const endless = new Party(log, Number.POSITIVE_INFINITY);
    endless.acquire("x");
    endless.acquire("y");
    endless.run({ ...put("here", "1"), attached: true } as Command);
    b.acquire("x");
    expire(log, endless);
    log.run({ kind: "markSilence", office: log.term, sessions: [{ session: endless.id, renewals: 0 }] });
    expect(log.state.sessions.get(endless.id)).toMatchObject({ silentMs: 0 });
    log.run({ kind: "breakLease", name: "x", afterMs: 0, force: false });
    expect(getLease(log.state, "x")).toMatchObject({ state: "ending", session: endless.id });
    log.run({ kind: "breakLease", name: "x", afterMs: 0, force: true });
    expect(holderOf("x")).toBe(b.id);
    expect(isAlive(log.state, endless.id)).toBe(true);
    log.run({ kind: "breakLease", name: "y", afterMs: 0, force: true });
    expect(isAlive(log.state, endless.id)).toBe(false);
    expect(getPair(log.state, "here")).toBeUndefined();
  });
});

describe("a lock delay", () => {
  it("keeps a lease from everybody after an unclean loss, until the leader says that it is over", () => {
    a.acquire("x", { lockDelayMs: 1_000 });
    b.acquire("x");
    expire(log, a);
    expect(getLease(log.state, "x")).toMatchObject({ state: "delayed", session: 0, term: 1, waiting: 1 });
    expect(c.acquire("x", { wait: false }).kind).toBe("leaseUnavailable");
    due(log, "endDelay", "x", 9);
    expect(holderOf("x")).toBe(0);
    due(log, "endDelay", "x", 1);
    expect(holderOf("x")).toBe(b.id);
  });

  it("is not for a release, a cancel or a close; a break ends it", () => {
    for (const end of [
      () => a.release("x", log.state.revision),
      () => a.run({ kind: "cancelAcquire", sequence: a.sequence }),
    ]) {
      a.acquire("x", { lockDelayMs: 1_000 });
      end();
      expect(getLease(log.state, "x").state).toBe("free");
    }
    b.acquire("x", { lockDelayMs: 1_000 });
    expire(log, b);
    expect(getLease(log.state, "x").state).toBe("delayed");
    log.run({ kind: "breakLease", name: "x", afterMs: 0, force: false });
    expect(getLease(log.state, "x").state).toBe("free");
  });
});

describe("a fenced write", () => {
  const fenced = (term: number): Command => ({ ...put("k", "1"), fence: { name: "x", term } }) as Command;

  it("is refused under an older term, under none, and before the lease is claimed", () => {
    a.acquire("x");
    b.acquire("x");
    expect(log.run(fenced(1))).toEqual({ kind: "put", revision: 2 });
    a.release("x", 1);
    expect(log.run(fenced(1))).toEqual({ kind: "staleFence", term: 3 });
    expect(log.run(fenced(3))).toEqual({ kind: "staleFence", term: 3 });
    b.claim("x", 3);
    expect(log.run(fenced(3)).kind).toBe("put");
    const remove: Command = {
      kind: "delete",
      key: "k",
      condition: { kind: "none" },
      fence: { name: "x", term: 1 },
    };
    expect(log.run(remove)).toEqual({ kind: "staleFence", term: 3 });
    b.release("x", 3);
    expect(log.run(fenced(3))).toEqual({ kind: "staleFence", term: 0 });
  });

  it("is let through while the lease is ending: it is still nobody else's", () => {
    a.acquire("x");
    log.run({ kind: "breakLease", name: "x", afterMs: 0, force: false });
    expect(log.run(fenced(1)).kind).toBe("put");
  });
});

describe("names that nobody has an interest in", () => {
  it("are forgotten above the limit, the longest idle first, and terms go on rising", () => {
    const count = 10_050;
    for (let n = 0; n < count; n += 1) {
      a.acquire(`n${n}`);
      a.release(`n${n}`, n + 1);
      a.sequence = 0;
      log.state.sessions.get(a.id)?.answers.clear();
    }
    expect(log.state.leases.size).toBe(10_000);
    expect(getLease(log.state, "n49")).toMatchObject({ transitions: 0, term: 0 });
    expect(getLease(log.state, "n50")).toMatchObject({ transitions: 1, term: 51 });
    expect(a.acquire("n1")).toEqual({ kind: "leaseGranted", term: count + 1 });
  });

  it("are remembered as such only until somebody wants them again: what is held or waited for is never forgotten", () => {
    const resting = (): readonly string[] => log.state.idleLeases.valuesArray();
    const term = takenTerm(a.acquire("x"));
    expect(resting()).toEqual([]);
    a.release("x", term);
    expect(resting()).toEqual(["x"]);
    expect(a.acquire("y")).toMatchObject({ kind: "leaseGranted" });
    b.acquire(["x", "y"]);
    expect(resting()).toEqual([]);
    b.run({ kind: "cancelAcquire", sequence: b.sequence });
    expect(resting()).toEqual(["x"]);
    b.acquire("x", { lockDelayMs: 5_000 });
    expect(resting()).toEqual([]);
    expire(log, b);
    expect(resting()).toEqual([]);
    due(log, "endDelay", "x", getLease(log.state, "x").term);
    expect(resting()).toEqual(["x"]);
    expire(log, a);
    expect(resting()).toEqual(["x", "y"]);
  });

  it("leave nothing behind where they were never granted", () => {
    const before = hashState(log.state);
    a.acquire("x");
    expect(b.acquire("x", { wait: false }).kind).toBe("leaseUnavailable");
    expect(hashState(log.state)).not.toBe(before);
    b.acquire(["x", "y"]);
    b.run({ kind: "cancelAcquire", sequence: b.sequence });
    expect(log.state.leases.get("y")).toBeUndefined();
  });
});

describe("a crowd on one name", () => {
  it("is served by one grant a release, and goes away together in time that does not grow with its square", () => {
    const parties = Array.from({ length: 5_000 }, () => new Party(log));
    for (const party of parties) party.acquire("x");
    const startMs = performance.now();
    expire(log, ...parties.slice(1, 1_001));
    for (let from = 1_001; from < parties.length; from += 1_000)
      expire(log, ...parties.slice(from, from + 1_000));
    expect(performance.now() - startMs).toBeLessThan(2_000);
    expect(getLease(log.state, "x")).toMatchObject({ session: parties[0]?.id, waiting: 0, transitions: 1 });
  });
});
