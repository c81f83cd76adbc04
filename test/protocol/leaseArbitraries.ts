/** Leases as they are read, made of the simpler things that they tell. */
import {
  type ByteString,
  grantEnds,
  type LeaseReport,
  type LeaseSet,
  type PastGrant,
} from "@quorate/client/protocol";
import fc from "fast-check";
import type { Basics } from "./storeArbitraries.ts";

export interface LeasesAsRead {
  readonly leaseReports: fc.Arbitrary<LeaseReport>;
  readonly pastGrants: fc.Arbitrary<PastGrant>;
  readonly leaseSets: fc.Arbitrary<LeaseSet>;
}

export function leasesAsRead(basics: Basics): LeasesAsRead {
  const { values, formats, naturals, counts, leasesAt } = basics;
  const names = leasesAt.map(({ name }) => name);
  const holders: fc.Arbitrary<ByteString> = fc.oneof(fc.constant(""), names);
  const leaseReports: fc.Arbitrary<LeaseReport> = fc.record({
    name: names,
    state: fc.constantFrom(
      "free" as const,
      "granted" as const,
      "held" as const,
      "ending" as const,
      "delayed" as const,
    ),
    term: naturals,
    transitions: naturals,
    changed: naturals,
    session: naturals,
    holder: holders,
    data: values,
    format: formats,
    handover: fc.boolean(),
    waiting: naturals,
  });

  const pastGrants: fc.Arbitrary<PastGrant> = fc.record({
    term: fc.integer({ min: 1, max: 2 ** 40 }),
    session: counts,
    holder: holders,
    toRevision: fc.integer({ min: 2 ** 40, max: 2 ** 52 }),
    end: fc.constantFrom(...grantEnds),
  });

  const leaseSets: fc.Arbitrary<LeaseSet> = fc.record({
    version: naturals,
    leases: fc.array(
      fc.record({
        sequence: counts,
        term: naturals,
        claimed: fc.boolean(),
        ending: fc.constantFrom("none" as const, "revoked" as const, "preempted" as const),
        handover: fc.boolean(),
      }),
      { maxLength: 4 },
    ),
  });
  return { leaseReports, pastGrants, leaseSets };
}
