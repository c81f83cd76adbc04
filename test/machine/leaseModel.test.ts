/** Leases of the machine against a model of them, and what must hold of them whatever is asked. */
import { maxPastGrantsOfName } from "@quorate/client/protocol";
import {
  applyAndTell,
  createStore,
  getLease,
  hashState,
  leaseSetOf,
  pastGrantsOf,
  sessions,
} from "@quorate/kv/machine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leaseHistories } from "./leaseHistories.ts";
import { LeaseModel } from "./leaseModel.ts";

const names = ["x", "y"];

describe("leases", () => {
  it("are granted, queued, claimed, passed on and ended as the model says, by any commands", () => {
    const kinds = new Map<string, number>();
    const ends = new Set<unknown>();
    fc.assert(
      fc.property(leaseHistories, ({ proposals, entries }) => {
        const state = createStore();
        const model = new LeaseModel();
        for (const [at, entry] of entries.entries()) {
          const proposal = proposals[at];
          if (proposal === undefined) throw new Error("there is a proposal for each entry");
          const { result } = applyAndTell(state, entry);
          const { kind } = proposal.command;
          kinds.set(`${kind} ${result.kind}`, (kinds.get(`${kind} ${result.kind}`) ?? 0) + 1);
          const said = result.kind === "refused" ? { ...result, reason: "" } : result;
          expect(said).toEqual(model.apply(entry, proposal));
          expect(state.revision).toBe(model.revision);
          for (const name of names) {
            const holder = model.holder(name);
            const past = pastGrantsOf(state, name).map((one) => [
              one.session,
              one.term,
              one.end,
              one.toRevision,
            ]);
            expect(past).toEqual((model.past.get(name) ?? []).slice(-maxPastGrantsOfName));
            for (const [, , end] of past) ends.add(end);
            expect(getLease(state, name)).toMatchObject({
              session: holder?.session ?? 0,
              waiting: model.waiting(name).length,
              handover: holder?.handover ?? false,
              term: model.lastTerms.get(name) ?? 0,
              state:
                holder === undefined
                  ? model.delayed.has(name)
                    ? "delayed"
                    : "free"
                  : !holder.claimed
                    ? "granted"
                    : holder.ending
                      ? "ending"
                      : "held",
            });
          }
        }
        expect([...sessions(state).keys()]).toEqual([...model.sessions.keys()]);
        for (const [id, { renewals, silentMs }] of model.sessions) {
          expect(state.sessions.get(id)).toMatchObject({ renewals, silentMs });
        }
        expect([...state.pairs.pairs()].map(({ key }) => key)).toEqual([...model.keys.keys()].sort());
      }),
      { numRuns: 2_000 },
    );
    const reached = ["leaseGranted", "leaseQueued", "leaseUnavailable", "acquireCancelled"];
    for (const kind of reached) expect(kinds.get(`acquireLease ${kind}`)).toBeGreaterThan(0);
    for (const kind of ["claimLease", "releaseLease", "loseLease"]) {
      expect(kinds.get(`${kind} leaseDone`)).toBeGreaterThan(0);
      expect(kinds.get(`${kind} leaseNotHeld`)).toBeGreaterThan(0);
    }
    for (const end of ["released", "closed", "expired", "forced", "lost"]) expect(ends).toContain(end);
    expect(kinds.get("put staleFence")).toBeGreaterThan(0);
    expect(kinds.get("put put")).toBeGreaterThan(0);
    expect(kinds.get("closeSession refused")).toBeGreaterThan(0);
  });

  it("have terms that rise strictly, one grant a name and revision, and an index of each session that agrees", () => {
    fc.assert(
      fc.property(leaseHistories, ({ entries }) => {
        const state = createStore();
        const terms = new Map<string, number>();
        for (const entry of entries) {
          const { leases, sessions: changed } = applyAndTell(state, entry);
          for (const name of names) {
            const { term, changed: at, transitions } = getLease(state, name);
            const before = terms.get(name) ?? 0;
            if (term !== before) {
              expect(term).toBeGreaterThan(before);
              expect(at).toBe(entry.index);
              expect(leases.has(name)).toBe(true);
              expect(transitions).toBeGreaterThan(0);
            }
            terms.set(name, term);
          }
          for (const id of changed) expect(state.sessions.get(id)?.version ?? entry.index).toBe(entry.index);
        }
        for (const [id, session] of state.sessions.entries()) {
          const held = [...state.leases.values()].flatMap(({ grant, queue }) => [
            ...(grant ? [grant] : []),
            ...queue,
          ]);
          const own = new Set(held.filter((one) => one.session === id));
          expect(new Set(session.acquisitions.values())).toEqual(own);
          expect(leaseSetOf(state, id)?.leases).toHaveLength(own.size);
          const keys = [...state.pairs.pairs()].filter((pair) => pair.session === id);
          expect([...session.keys].sort()).toEqual(keys.map(({ key }) => key));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("come to the same digest by the same entries", () => {
    fc.assert(
      fc.property(leaseHistories, ({ entries }) => {
        const [first, second] = [createStore(), createStore()];
        for (const entry of entries) applyAndTell(first, entry);
        for (const entry of entries) applyAndTell(second, { ...entry, data: entry.data.slice() });
        expect(hashState(second)).toBe(hashState(first));
      }),
      { numRuns: 200 },
    );
  });
});
