/**
 * A leader's accounts as values, and the real `Office` that judges by them.
 *
 * What surrounds the office in sessionClock.ts waits for promises and timers, so its rules are said again in
 * leaderSteps.ts; `mirrored` has the lines that they stand for, and a test sees that those are still there.
 */
import type { Office } from "@quorate/kv/internal";
import type { Model } from "./model.ts";
import type { Account, Leader } from "./world.ts";

export const never = -1;
export const newAccount: Account = {
  heard: never,
  silentBeforeMs: 0,
  marked: never,
  marking: never,
  expiring: false,
};

/** In sessionClock.ts and office.ts of packages/kv/src/server, each once. */
export const mirrored: readonly string[] = [
  "return office === this.#office && point?.asLeader === true && point.term === office.term;",
  'if (!this.#isConfirmedBy(office, point)) end("notLeader");',
  'else if (office.expiring.has(session)) end("notNow");',
  "} else if (!office.confirms(session, found)) {",
  'office.hear(session, arrivedMs);\n      end("alive");',
  'if (this.#session(session) === undefined) return "ended";\n    office.hear(session, arrivedMs);',
  "if (await this.#isConfirmed(office)) {\n        office.begin(this.#ports.clock.bootMs(), this.#ports.store.sessions.entries());",
  "if (!this.#isConfirmedBy(office, point)) return undefined;",
  "if (!office.confirms(session, found)) return true;\n        office.hear(session, arrivedMs);",
  "return silentMs === 0 && !this.expiring.has(session) && !this.marking.has(session);",
  'if (this.expiring.has(session) || this.isAwaited(session)) return undefined;\n    if (this.expiryMs(session, ttlMs) <= nowMs) return "expired";\n    return this.markMs(session, ttlMs) <= nowMs ? "silent" : undefined;',
  "const lateness = this.latenessOf(session, state, nowMs);",
  "return state?.renewals === renewals && office.latenessOf(session, state, nowMs) === lateness;",
  "for (const { session } of sessions) office.expiring.add(session);",
  'office.expiring.delete(session);\n      if (outcome !== "applied") continue;',
  "if (this.#session(session) === undefined) office.forget(session);\n      else office.hear(session, this.#ports.clock.bootMs());",
  "for (const { session } of sessions) office.marking.add(session);",
  'office.marking.delete(session);\n      if (outcome === "applied") office.markedMs.set(session, nowMs);',
];

export function officeOf(model: Model, leader: Leader): Office {
  const { tickMs } = model;
  const office = new model.subject.server.Office(leader.term);
  if (leader.since !== never) {
    const silent = leader.accounts.map(({ silentBeforeMs }) => ({ silentMs: silentBeforeMs }));
    const sessions = model.stores.sessions.map((session, at) => [session, silent[at]!] as const);
    office.begin(leader.since * tickMs, sessions as unknown as Parameters<Office["begin"]>[1]);
  }
  for (const [at, session] of model.stores.sessions.entries()) {
    const { heard, marked, marking, expiring } = leader.accounts[at]!;
    if (heard !== never) office.heardMs.set(session, heard * tickMs);
    if (marked !== never) office.markedMs.set(session, marked * tickMs);
    if (marking !== never) office.marking.add(session);
    if (expiring) office.expiring.add(session);
  }
  for (const { client } of leader.keeping) office.arrive(model.stores.sessions[client]!);
  return office;
}

/** The accounts as `office` has them now; it knows of a mark under way, but not since when. */
export function withOffice(model: Model, leader: Leader, office: Office): Leader {
  const { tickMs, stores, ttlsMs } = model;
  const accounts = leader.accounts.map((before, at): Account => {
    const session = stores.sessions[at]!;
    const ttlMs = ttlsMs[at]!;
    const ticks = (ms: number | undefined): number => (ms === undefined ? never : ms / tickMs);
    const silentBeforeMs = office.silentSinceMs(session) + ttlMs - office.expiryMs(session, ttlMs);
    return {
      heard: ticks(office.heardMs.get(session)),
      silentBeforeMs: Number.isNaN(silentBeforeMs) ? before.silentBeforeMs : silentBeforeMs,
      marked: ticks(office.markedMs.get(session)),
      marking: office.marking.has(session) ? before.marking : never,
      expiring: office.expiring.has(session),
    };
  });
  return { ...leader, accounts: accounts as unknown as Leader["accounts"] };
}

export function withAccount(leader: Leader, client: number, changes: Partial<Account>): Leader {
  const accounts = leader.accounts.map((account, at) =>
    at === client ? { ...account, ...changes } : account,
  );
  return { ...leader, accounts: accounts as unknown as Leader["accounts"] };
}
