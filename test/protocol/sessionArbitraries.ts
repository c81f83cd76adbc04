/** Lists of sessions, as they are asked for and answered. */
import type { RequestBody, ResponseBody } from "@quorate/client/protocol";
import fc from "fast-check";
import type { Basics } from "./storeArbitraries.ts";

export function sessionRequests({ naturals }: Basics): fc.Arbitrary<RequestBody> {
  return fc.record({
    kind: fc.constant("listSessions" as const),
    from: naturals,
    limit: fc.integer({ min: 1, max: 10_000 }),
    consistency: fc.constantFrom("linearizable" as const, "local" as const),
  });
}

export function sessionResponses({ naturals, counts }: Basics): fc.Arbitrary<ResponseBody> {
  const report = fc.record({
    session: counts,
    ttlMs: counts,
    silentMs: naturals,
    held: naturals,
    waiting: naturals,
    keys: naturals,
    holder: fc.stringMatching(/^[a-z/0-9]{0,12}$/),
  });
  return fc.record({
    kind: fc.constant("sessions" as const),
    sessions: fc.array(report, { maxLength: 3 }),
    more: fc.boolean(),
    revision: naturals,
  });
}
