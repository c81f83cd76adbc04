/** Sessions begin and end, and each of their commands runs once, in whatever copies it arrives. */
import {
  answerBytes,
  type Command,
  type CommandResult,
  encodeProposal,
  maxSessionAnswerBytes,
  maxSessions,
  sessionWindow,
} from "@quorate/client/protocol";
import {
  applyEntry,
  getPair,
  hashState,
  isAlive,
  revision,
  sessions,
  sessionTtlMs,
} from "@quorate/kv/machine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLog, ifAbsent, put, remove, replay } from "./log.ts";

describe("a session", () => {
  it("is named by its entry's index, and neither its opening nor its end raises the revision", () => {
    const log = createLog();
    log.run(put("a", "1"));
    const first = log.openSession(1_200);
    const second = log.openSession(9_000);
    expect([first, second]).toEqual([2, 3]);
    expect([...sessions(log.state)]).toEqual([
      [2, 1_200],
      [3, 9_000],
    ]);
    expect(sessionTtlMs(log.state, second)).toBe(9_000);
    expect(log.run({ kind: "closeSession", session: first })).toEqual({
      kind: "sessionClosed",
      existed: true,
    });
    expect(log.run({ kind: "closeSession", session: first })).toEqual({
      kind: "sessionClosed",
      existed: false,
    });
    expect(isAlive(log.state, first)).toBe(false);
    expect(sessionTtlMs(log.state, first)).toBeUndefined();
    expect(revision(log.state)).toBe(1);
  });

  it("expires only by a command of the term that it is applied in", () => {
    const log = createLog();
    const session = log.openSession();
    log.term = 3;
    expect(log.run({ kind: "expireSession", session, term: 2 })).toEqual({ kind: "nothing" });
    expect(isAlive(log.state, session)).toBe(true);
    expect(log.run({ kind: "expireSession", session, term: 3 })).toEqual({
      kind: "sessionClosed",
      existed: true,
    });
    expect(log.run({ kind: "expireSession", session, term: 3 })).toEqual({
      kind: "sessionClosed",
      existed: false,
    });
  });

  it("that has ended refuses its commands, and never runs them", () => {
    const log = createLog();
    const session = log.openSession();
    const origin = { session, sequence: 1, ackedBelow: 1 };
    expect(log.runIn(origin, put("a", "1"))).toEqual({ kind: "put", revision: 1 });
    log.run({ kind: "closeSession", session });
    expect(log.runIn(origin, put("a", "1"))).toEqual({ kind: "sessionEnded" });
    expect(log.runIn({ ...origin, sequence: 2 }, put("a", "2"))).toEqual({ kind: "sessionEnded" });
    expect(log.runIn({ ...origin, session: 999 }, put("a", "3"))).toEqual({ kind: "sessionEnded" });
    expect(getPair(log.state, "a")?.modRevision).toBe(1);
  });

  it("may end itself by a command of its own", () => {
    const log = createLog();
    const session = log.openSession();
    const origin = { session, sequence: 1, ackedBelow: 1 };
    expect(log.runIn(origin, { kind: "closeSession", session })).toEqual({
      kind: "sessionClosed",
      existed: true,
    });
    expect(log.runIn(origin, { kind: "closeSession", session })).toEqual({ kind: "sessionEnded" });
    expect(sessions(log.state).size).toBe(0);
  });

  it("is refused above the limit, and possible again once another has ended", () => {
    const log = createLog();
    const open = encodeProposal({
      origin: { kind: "anonymous" },
      command: { kind: "openSession", ttlMs: 5_000 },
    });
    for (let n = 1; n <= maxSessions; n += 1) {
      applyEntry(log.state, { index: n, term: 1, kind: "command", data: open });
    }
    const next = { index: maxSessions + 1, term: 1, kind: "command", data: open };
    expect(applyEntry(log.state, next)).toMatchObject({
      kind: "refused",
      reason: expect.stringContaining("100000"),
    });
    expect(isAlive(log.state, next.index)).toBe(false);
    log.run({ kind: "closeSession", session: 1 });
    expect(applyEntry(log.state, next)).toEqual({ kind: "sessionOpened", session: next.index });
  });

  it("leaves nothing behind, after 100,000 of them", () => {
    const log = createLog();
    const before = hashState(log.state);
    const anonymous = { kind: "anonymous" } as const;
    const open = encodeProposal({ origin: anonymous, command: { kind: "openSession", ttlMs: 5_000 } });
    let ran = 0;
    for (let index = 1; index <= 300_000; index += 3) {
      applyEntry(log.state, { index, term: 1, kind: "command", data: open });
      const origin = { kind: "session", session: index, sequence: 1, ackedBelow: 1 } as const;
      const command = encodeProposal({ origin, command: remove("absent") });
      if (
        applyEntry(log.state, { index: index + 1, term: 1, kind: "command", data: command }).kind ===
        "deleted"
      )
        ran += 1;
      const end: Command =
        index % 2 === 0
          ? { kind: "closeSession", session: index }
          : { kind: "expireSession", session: index, term: 1 };
      const data = encodeProposal({ origin: anonymous, command: end });
      applyEntry(log.state, { index: index + 2, term: 1, kind: "command", data });
    }
    expect(ran).toBe(100_000);
    expect(log.state.sessions.size).toBe(0);
    expect(hashState(log.state)).toBe(before);
  });
});

describe("a command of a session", () => {
  it("that arrives twice runs once, and gets the stored answer, though the state went on", () => {
    const log = createLog();
    const session = log.openSession();
    const command = put("lock", "mine", ifAbsent);
    const first = log.runIn({ session, sequence: 1, ackedBelow: 1 }, command);
    log.run(remove("lock"));
    const second = log.runIn({ session, sequence: 1, ackedBelow: 1 }, command);
    expect(second).toEqual(first);
    expect(getPair(log.state, "lock")).toBeUndefined();
  });

  it("that was refused by a condition stays refused when it arrives again", () => {
    const log = createLog();
    const session = log.openSession();
    log.run(put("lock", "theirs"));
    const command = put("lock", "mine", ifAbsent);
    expect(log.runIn({ session, sequence: 1, ackedBelow: 1 }, command)).toEqual({
      kind: "conflict",
      modRevision: 1,
    });
    log.run(remove("lock"));
    expect(log.runIn({ session, sequence: 1, ackedBelow: 1 }, command)).toEqual({
      kind: "conflict",
      modRevision: 1,
    });
  });

  it("may arrive before an earlier one", () => {
    const log = createLog();
    const session = log.openSession();
    expect(log.runIn({ session, sequence: 2, ackedBelow: 1 }, put("a", "2"))).toEqual({
      kind: "put",
      revision: 1,
    });
    expect(log.runIn({ session, sequence: 1, ackedBelow: 1 }, put("a", "1"))).toEqual({
      kind: "put",
      revision: 2,
    });
    expect(log.runIn({ session, sequence: 2, ackedBelow: 1 }, put("a", "2"))).toEqual({
      kind: "put",
      revision: 1,
    });
  });

  it("below the acknowledged ones is told so, also where a later copy names fewer of them", () => {
    const log = createLog();
    const session = log.openSession();
    log.runIn({ session, sequence: 1, ackedBelow: 1 }, put("a", "1"));
    log.runIn({ session, sequence: 2, ackedBelow: 2 }, put("a", "2"));
    for (const ackedBelow of [2, 1, 0]) {
      const again = log.runIn({ session, sequence: 1, ackedBelow }, put("a", "1"));
      expect(again).toEqual({ kind: "alreadyAcknowledged" });
    }
    expect(log.runIn({ session, sequence: 5, ackedBelow: 9 }, put("a", "5"))).toEqual({
      kind: "alreadyAcknowledged",
    });
    expect(revision(log.state)).toBe(2);
    expect(log.state.sessions.get(session)).toMatchObject({ ackedBelow: 9, answers: new Map() });
  });

  it("beyond the window is refused, and runs once the window has moved", () => {
    const log = createLog();
    const session = log.openSession();
    const last = sessionWindow;
    expect(log.runIn({ session, sequence: last, ackedBelow: 1 }, put("a", "1")).kind).toBe("put");
    const beyond = log.runIn({ session, sequence: last + 1, ackedBelow: 1 }, put("a", "2"));
    expect(beyond).toEqual({ kind: "beyondWindow" });
    expect(revision(log.state)).toBe(1);
    expect(log.runIn({ session, sequence: last + 1, ackedBelow: 2 }, put("a", "2")).kind).toBe("put");
  });

  it("finds room for its answer, or is refused and may come again when the client has some", () => {
    const log = createLog();
    const session = log.openSession();
    log.run(put("big", new Uint8Array(1_000_000)));
    const read: Command = {
      kind: "transaction",
      compares: [],
      onSuccess: [{ kind: "get", key: "big" }],
      onFailure: [],
    };
    const room = Math.ceil(maxSessionAnswerBytes / 1_000_000);
    for (let sequence = 1; sequence <= room; sequence += 1) {
      expect(log.runIn({ session, sequence, ackedBelow: 1 }, read).kind).toBe("transacted");
    }
    const next = room + 1;
    expect(log.runIn({ session, sequence: next, ackedBelow: 1 }, put("a", "1"))).toEqual({
      kind: "answersFull",
    });
    expect(log.runIn({ session, sequence: 1, ackedBelow: 1 }, read).kind).toBe("transacted");
    expect(revision(log.state)).toBe(1);
    expect(log.runIn({ session, sequence: next, ackedBelow: 2 }, put("a", "1")).kind).toBe("put");
    log.runIn({ session, sequence: next + 1, ackedBelow: next + 1 }, put("a", "1"));
    expect(log.state.sessions.get(session)?.answerBytes).toBe(answerBytes({ kind: "put", revision: 3 }));
  });

  it("keeps at most a window of answers, and forgets exactly those that are acknowledged", () => {
    const log = createLog();
    const session = log.openSession();
    const answers = () => [...(log.state.sessions.get(session)?.answers.keys() ?? [])].sort((a, b) => a - b);
    for (let sequence = 1; sequence <= sessionWindow + 10; sequence += 1) {
      log.runIn({ session, sequence, ackedBelow: 1 }, remove("absent"));
    }
    expect(answers()).toHaveLength(sessionWindow);
    log.runIn({ session, sequence: 1_010, ackedBelow: 1_000 }, remove("absent"));
    expect(answers()).toEqual(Array.from({ length: 25 }, (_, n) => 1_000 + n));
    log.runIn({ session, sequence: 1_500, ackedBelow: 1_023 }, remove("absent"));
    log.runIn({ session, sequence: 1_501, ackedBelow: 1_500 }, remove("absent"));
    expect(answers()).toEqual([1_500, 1_501]);
    log.runIn({ session, sequence: 2 ** 53 - 1, ackedBelow: 2 ** 53 - 1 }, remove("absent"));
    expect(answers()).toEqual([2 ** 53 - 1]);
  });

  it("does not use up its sequence where its bytes are malformed", () => {
    const log = createLog();
    const session = log.openSession();
    const origin = { kind: "session", session, sequence: 1, ackedBelow: 1 } as const;
    const bytes = encodeProposal({ origin, command: put("a", "1") });
    expect(log.append(bytes.subarray(0, bytes.length - 1)).kind).toBe("malformed");
    expect(log.append(bytes)).toEqual({ kind: "put", revision: 1 });
  });
});

/** A client's commands 1 to `count` as they arrive: each at least once, some often, in any order. */
const deliveries = fc
  .integer({ min: 1, max: 12 })
  .chain((count) =>
    fc.tuple(
      fc.shuffledSubarray([...Array(count).keys()], { minLength: count }),
      fc.array(fc.nat(count - 1), { maxLength: 30 }),
      fc.nat(),
    ),
  );

describe("duplicated and reordered deliveries", () => {
  it("have the effect, and the answers, of each command delivered once in the order of first arrival", () => {
    fc.assert(
      fc.property(deliveries, ([order, repeats, salt]) => {
        const commands = order.map((n) =>
          n % 4 === 3
            ? remove(`k${n % 3}`)
            : put(`k${n % 3}`, `${n}`, (n + salt) % 3 === 0 ? ifAbsent : undefined),
        );
        const once = createLog();
        const session = once.openSession();
        const answers = new Map<number, CommandResult>();
        for (const n of order) {
          const origin = { session, sequence: n + 1, ackedBelow: 1 };
          answers.set(n, once.runIn(origin, commands[n] as Command));
        }

        const often = createLog();
        often.openSession();
        const arrived: number[] = [];
        for (const [at, n] of order.entries()) {
          arrived.push(n);
          const copies = repeats
            .filter((_, r) => r % order.length === at)
            .map((r) => arrived[r % arrived.length]);
          for (const copy of [n, ...copies] as number[]) {
            const origin = { session, sequence: copy + 1, ackedBelow: 1 };
            expect(often.runIn(origin, commands[copy] as Command)).toEqual(answers.get(copy));
          }
        }
        expect(hashState(often.state)).toBe(hashState(once.state));
        expect(hashState(replay(often.entries))).toBe(hashState(often.state));
      }),
      { numRuns: 300 },
    );
  });
});
