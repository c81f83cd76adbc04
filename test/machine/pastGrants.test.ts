/** What is remembered of grants that are over: who held the lease, by which term, and how that ended. */
import {
  type CommandResult,
  maxIdleLeases,
  maxPastGrants,
  maxPastGrantsOfName,
} from "@quorate/client/protocol";
import { getLease, pastGrantsOf } from "@quorate/kv/machine";
import { beforeEach, describe, expect, it } from "vitest";
import { createLog, type Log, put } from "./log.ts";
import { due, expire, Party, takenTerm } from "./party.ts";

let log: Log;
let a: Party;
let b: Party;
let c: Party;

beforeEach(() => {
  log = createLog();
  [a, b, c] = [new Party(log), new Party(log), new Party(log)];
});

describe("the past of a lease", () => {
  function lose(party: Party, name: string, term: number): CommandResult {
    return party.run({ kind: "loseLease", lease: { name, term } });
  }

  function past(name: string): readonly unknown[] {
    return pastGrantsOf(log.state, name).map(({ session, term, toRevision, end }) => [
      session,
      term,
      toRevision,
      end,
    ]);
  }

  it("tells who held it, by which term, until which revision, and how that ended", () => {
    a.acquire("x");
    log.run(put("k", "1"));
    b.acquire("x");
    a.release("x", 1);
    b.claim("x", 3);
    log.run({ kind: "breakLease", name: "x", afterMs: 0, force: false });
    due(log, "finish", "x", 3);
    c.acquire("x");
    a.acquire("x");
    b.acquire("x");
    expire(log, c);
    due(log, "passOn", "x", 5);
    expect(past("x")).toEqual([
      [a.id, 1, 2, "released"],
      [b.id, 3, 3, "revoked"],
      [c.id, 4, 4, "expired"],
      [a.id, 5, 5, "unclaimed"],
    ]);
    expect(pastGrantsOf(log.state, "x")[0]?.holder).toBe(`party ${a.id}`);
    expect(past("never")).toEqual([]);
  });

  it("tells of one that its holder has lost and gives back, and of one that it loses since it was to end", () => {
    log.run({ kind: "raiseVersion", office: log.term, version: 3 });
    a.acquire("x", { lockDelayMs: 1_000 });
    expect(lose(b, "x", 1)).toEqual({ kind: "leaseNotHeld", term: 1 });
    expect(lose(a, "x", 1)).toEqual({ kind: "leaseDone", term: 1 });
    expect(getLease(log.state, "x").state).toBe("delayed");
    due(log, "endDelay", "x", 1);
    b.acquire("x");
    log.run({ kind: "breakLease", name: "x", afterMs: 0, force: false });
    due(log, "revoke", "x", 2);
    lose(b, "x", 2);
    expect(past("x")).toEqual([
      [a.id, 1, 1, "lost"],
      [b.id, 2, 2, "revoked"],
    ]);
  });

  it("is the last few grants of a name, and goes when the name is forgotten", () => {
    for (let n = 0; n < maxPastGrantsOfName + 3; n += 1) a.release("x", takenTerm(a.acquire("x")));
    expect(past("x")).toHaveLength(maxPastGrantsOfName);
    expect(past("x")[0]).toEqual([a.id, 4, 4, "released"]);
    expect(log.state.pastGrants).toBe(maxPastGrantsOfName);
    let shortly = b;
    for (let n = 0; n < maxIdleLeases; n += 1) {
      // A session keeps so many answers and no more.
      if (n % 500 === 0) shortly = new Party(log);
      shortly.release(`y${n}`, takenTerm(shortly.acquire(`y${n}`)));
    }
    expect(past("x")).toEqual([]);
    expect(log.state.pastGrants).toBe(maxIdleLeases);
  });

  it("is the last grant alone where all names together remember too many", () => {
    for (let n = 0; n < 3; n += 1) a.release("x", takenTerm(a.acquire("x")));
    log.state.pastGrants = maxPastGrants;
    a.release("x", takenTerm(a.acquire("x")));
    expect(past("x")).toEqual([[a.id, 4, 4, "released"]]);
    expect(log.state.pastGrants).toBe(maxPastGrants - 2);
  });
});
