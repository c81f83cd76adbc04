/** Lists of sessions and of candidates, as they are asked for and answered; and what a candidate says of itself. */
import type { LeaseCommand, RequestBody, ResponseBody } from "@quorate/client/protocol";
import fc from "fast-check";
import type { Basics } from "./storeArbitraries.ts";

type Acquire = Extract<LeaseCommand, { kind: "acquireLease" }>;

const words = fc.stringMatching(/^[a-z/0-9]{0,12}$/);
const candidacy = { preference: fc.nat(1_023), version: words, zone: words };
const spans = {
  limit: fc.integer({ min: 1, max: 10_000 }),
  consistency: fc.constantFrom("linearizable" as const, "local" as const),
};

export const timesToLive = fc.oneof(
  fc.integer({ min: 1, max: 86_400_000 }),
  fc.constant(Number.POSITIVE_INFINITY),
);

/** Acquires, some of which preempt, and some of which say something of themselves. */
export function eager(acquires: fc.Arbitrary<Acquire>): fc.Arbitrary<Acquire> {
  return fc.tuple(acquires, fc.boolean(), fc.record(candidacy)).map(([acquire, preempts, candidate]) => ({
    ...acquire,
    ...(preempts ? { preempts } : {}),
    ...(candidate.preference === 0 && candidate.version + candidate.zone === "" ? {} : { candidate }),
  }));
}

export function sessionRequests({ naturals }: Basics): fc.Arbitrary<RequestBody> {
  return fc.oneof(
    fc.record({ kind: fc.constant("listSessions" as const), from: naturals, ...spans }),
    fc.record({
      kind: fc.constant("listCandidates" as const),
      name: fc.stringMatching(/^[a-z/0-9]{1,12}$/),
      ...spans,
    }),
  );
}

export function sessionResponses({ naturals, counts }: Basics): fc.Arbitrary<ResponseBody> {
  const session = fc.record({
    session: counts,
    ttlMs: timesToLive,
    silentMs: naturals,
    held: naturals,
    waiting: naturals,
    keys: naturals,
    holder: words,
  });
  const candidate = fc.record({
    session: counts,
    holder: words,
    priority: fc.integer({ min: -2_147_483_647 }),
    state: fc.constantFrom("waiting" as const, "granted" as const, "held" as const, "ending" as const),
    ...candidacy,
  });
  const page = { more: fc.boolean(), revision: naturals };
  return fc.oneof(
    fc.record({
      kind: fc.constant("sessions" as const),
      sessions: fc.array(session, { maxLength: 3 }),
      ...page,
    }),
    fc.record({
      kind: fc.constant("candidates" as const),
      candidates: fc.array(candidate, { maxLength: 3 }),
      ...page,
    }),
  );
}
