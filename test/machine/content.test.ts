/** A state becomes a snapshot's content and a state again, and a view stays as it was. */
import { answerBytes, type CommandResult, type StoredPair, sessionWindow } from "@quorate/client/protocol";
import {
  applyEntry,
  createSession,
  createStore,
  hashState,
  restoreContent,
  type StoreState,
  viewOf,
  writeContent,
} from "@quorate/kv/machine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { histories } from "./histories.ts";
import { leaseHistories } from "./leaseHistories.ts";
import { createLog, put, remove, replay } from "./log.ts";

function contentOf(state: StoreState, frameBytes?: number): Uint8Array {
  return Buffer.concat([...writeContent(viewOf(state), frameBytes)]);
}

function restoredFrom(content: Uint8Array, pieceBytes: number = content.length): StoreState {
  const restoration = restoreContent();
  for (let at = 0; at < content.length; at += pieceBytes)
    restoration.add(content.subarray(at, at + pieceBytes));
  return restoration.finish();
}

const aPair: StoredPair = {
  key: "k\u00ff",
  value: Uint8Array.of(0, 255),
  format: "bytes",
  createRevision: 1,
  modRevision: 2 ** 52,
  version: 3,
};

const answersOfEachKind: readonly CommandResult[] = [
  { kind: "put", revision: 2 ** 53 - 1 },
  { kind: "deleted", revision: 0, existed: false },
  { kind: "conflict", modRevision: 3 },
  { kind: "sessionOpened", session: 4 },
  { kind: "sessionClosed", existed: true },
  { kind: "sessionEnded" },
  { kind: "alreadyAcknowledged" },
  { kind: "beyondWindow" },
  { kind: "answersFull" },
  { kind: "malformed", reason: "grün 🟢 and a lone \ud800" },
  { kind: "refused", reason: "" },
  { kind: "nothing" },
  {
    kind: "transacted",
    revision: 9,
    succeeded: false,
    results: [
      { kind: "put" },
      { kind: "deleted", count: 2 },
      { kind: "got", pair: undefined },
      { kind: "listed", pairs: [aPair], more: true },
      { kind: "got", pair: aPair },
    ],
  },
  { kind: "quotaExceeded", neededBytes: 2 ** 40, quotaBytes: 65_536 },
  { kind: "tooLarge", reason: "much" },
  { kind: "storeLimited", limits: { historyRevisions: 1, historyBytes: 4_096, quotaBytes: 65_536 } },
  { kind: "leaseGranted", term: 3 },
  { kind: "leaseQueued", ahead: 0 },
  { kind: "leaseUnavailable", at: 1, term: 0, holder: "" },
  { kind: "gracePeriod", forMs: 15_000 },
  { kind: "leaseDone", term: 3 },
  { kind: "leaseNotHeld", term: 0 },
  { kind: "acquireCancelled" },
  { kind: "staleFence", term: 4 },
];

describe("a snapshot of the store", () => {
  it("restores any state to one of the same digest that goes on the same way, however it is cut", () => {
    fc.assert(
      fc.property(
        fc.oneof(histories, leaseHistories),
        fc.nat(),
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 97 }),
        ({ entries }, cut, frameBytes, pieceBytes) => {
          const at = cut % (entries.length + 1);
          const state = replay(entries.slice(0, at));
          const restored = restoredFrom(contentOf(state, frameBytes), pieceBytes);
          expect(hashState(restored)).toBe(hashState(state));
          for (const entry of entries.slice(at)) {
            expect(applyEntry(restored, entry)).toEqual(applyEntry(state, entry));
          }
          expect(hashState(restored)).toBe(hashState(state));
          expect(restored.pairs.checkValid()).toBeUndefined();
          expect(restored.idleLeases.toArray()).toEqual(state.idleLeases.toArray());
          const atRest = [...state.leases.values()].filter(({ grant, queue, delayMs }) => {
            return grant === undefined && queue.length === 0 && delayMs === 0;
          });
          expect(state.idleLeases.valuesArray().toSorted()).toEqual(atRest.map(({ name }) => name));
          for (const [id, session] of state.sessions.entries()) {
            const { generation: _, ...rest } = session;
            expect(restored.sessions.get(id)).toMatchObject(rest);
          }
        },
      ),
      { numRuns: 600 },
    );
  });

  it("keeps every kind of answer as it was", () => {
    const state = createStore();
    const answers = new Map(answersOfEachKind.map((answer, at) => [at + 1, answer]));
    state.sessions.set(7, { ...createSession(5_000, 0), answers });
    const restored = restoredFrom(contentOf(state));
    expect(restored.sessions.get(7)?.answers).toEqual(answers);
    const bytes = answersOfEachKind.reduce((sum, answer) => sum + answerBytes(answer), 0);
    expect(restored.sessions.get(7)?.answerBytes).toBe(bytes);
  });

  it("restores many pairs in runs, with values up to the largest", () => {
    const log = createLog();
    log.run(put("0", new Uint8Array(1_048_576).fill(7)));
    for (let n = 0; n < 9_000; n += 1) log.run(put(`key/${n * 7_919}`, `value ${n}`));
    const restored = restoredFrom(contentOf(log.state), 65_536);
    expect(hashState(restored)).toBe(hashState(log.state));
    restored.pairs.checkValid();
  });

  it("is refused where it was cut off, anywhere, and where it goes on after its end", () => {
    const log = createLog();
    const session = log.openSession();
    for (let n = 1; n < 6; n += 1)
      log.runIn({ session, sequence: n, ackedBelow: 1 }, put(`k${n}`, "v".repeat(n)));
    const content = contentOf(log.state, 20);
    for (let length = 0; length < content.length; length += 1) {
      expect(() => restoredFrom(content.subarray(0, length), 13)).toThrow("malformed");
    }
    expect(() => restoredFrom(Buffer.concat([content, Buffer.from([0])]))).toThrow("after its end");
  });

  it("with a flipped byte anywhere throws, or ends as a state: it never hangs, and never does anything else", () => {
    const log = createLog();
    const session = log.openSession();
    for (let n = 1; n < 9; n += 1)
      log.runIn({ session, sequence: n, ackedBelow: 1 }, put(`k${n}`, "v".repeat(n)));
    const content = contentOf(log.state, 30);
    let refused = 0;
    for (let at = 0; at < content.length; at += 1) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const damaged = Uint8Array.from(content);
        damaged[at] = damaged[at]! ^ flip;
        try {
          restoredFrom(damaged);
        } catch (error) {
          expect((error as Error).message).toContain("The content of the snapshot is malformed");
          refused += 1;
        }
      }
    }
    expect(refused).toBeGreaterThan(content.length);
  });

  it("is made in small pieces, each of which asks for little work", () => {
    const log = createLog();
    for (let n = 0; n < 20_000; n += 1) log.run(put(`key/${n}`, "v".repeat(100)));
    const pieces = [...writeContent(viewOf(log.state))];
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(70_000);
    expect(pieces.length).toBeGreaterThan(20);
  });
});

describe("a view", () => {
  it("stays as it was while the machine goes on, with pairs, sessions and answers", () => {
    fc.assert(
      fc.property(fc.oneof(histories, leaseHistories), fc.nat(), fc.nat(), ({ entries }, first, second) => {
        const state = createStore();
        const cuts = [first, second].map((cut) => cut % (entries.length + 1)).sort((a, b) => a - b);
        const views: { view: StoreState; digest: string }[] = [];
        for (const [at, entry] of entries.entries()) {
          for (const cut of cuts)
            if (cut === at) views.push({ view: viewOf(state), digest: hashState(state) });
          applyEntry(state, entry);
        }
        for (const { view, digest } of views) {
          expect(hashState(view)).toBe(digest);
          expect(hashState(restoredFrom(Buffer.concat([...writeContent(view)])))).toBe(digest);
        }
        expect(hashState(state)).toBe(hashState(replay(entries)));
      }),
      { numRuns: 300 },
    );
  });

  it("is read piece by piece while what it shows is deleted", () => {
    const log = createLog();
    const session = log.openSession();
    for (let n = 0; n < 2_000; n += 1) log.run(put(`k${n}`, "v"));
    log.runIn({ session, sequence: 1, ackedBelow: 1 }, put("last", "v"));
    const digest = hashState(log.state);
    const pieces: Uint8Array[] = [];
    for (const piece of writeContent(viewOf(log.state), 200)) {
      pieces.push(piece);
      log.run(remove(`k${2_000 - pieces.length}`));
      log.runIn({ session, sequence: pieces.length + 1, ackedBelow: pieces.length }, put("last", "w"));
    }
    expect(hashState(restoredFrom(Buffer.concat(pieces)))).toBe(digest);
    expect(hashState(log.state)).not.toBe(digest);
  });

  it("costs a session one copy of its answers, and only when it is next used", () => {
    const log = createLog();
    const session = log.openSession();
    for (let n = 1; n < sessionWindow; n += 1)
      log.runIn({ session, sequence: n, ackedBelow: 1 }, put("k", "v"));
    const before = log.state.sessions.get(session);
    const view = viewOf(log.state);
    expect(view.sessions.get(session)).toBe(before);
    log.runIn({ session, sequence: sessionWindow, ackedBelow: 1 }, put("k", "v"));
    const copy = log.state.sessions.get(session);
    expect(copy).not.toBe(before);
    expect(view.sessions.get(session)).toBe(before);
    log.runIn({ session, sequence: sessionWindow, ackedBelow: 2 }, put("k", "v"));
    expect(log.state.sessions.get(session)).toBe(copy);
  });
});
