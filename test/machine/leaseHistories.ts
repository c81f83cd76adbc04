/** Logs of commands about leases that meet: few names, sessions and sequences, and terms near those that are given. */
import { type Command, encodeProposal, machineVersion, type Proposal } from "@quorate/client/protocol";
import type { AppliedEntry } from "@quorate/kv/machine";
import fc from "fast-check";

const name = fc.constantFrom("x", "x", "y");
const session = fc.integer({ min: 1, max: 4 });
/** The first grants are the likeliest to be met. */
const term = fc.constantFrom(1, 1, 1, 2, 2, 3, 4, 5, 7);
const lease = fc.record({ name, term });
const office = fc.integer({ min: 1, max: 2 });
const someSessions = fc.array(fc.record({ session, renewals: fc.nat(1) }), { minLength: 1, maxLength: 3 });

const acquire: fc.Arbitrary<Extract<Command, { kind: "acquireLease" }>> = fc.record({
  kind: fc.constant("acquireLease" as const),
  names: fc.uniqueArray(name, { minLength: 1, maxLength: 2 }),
  wait: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
  priority: fc.integer({ min: -1, max: 1 }),
  asksHandover: fc.boolean(),
  holder: fc.constant("me"),
  data: fc.constant(new Uint8Array(0)),
  format: fc.constant("bytes" as const),
  lockDelayMs: fc.constantFrom(0, 0, 500),
});

/** Some of them come before others by more than their priority, and take what those hold. */
const eagerAcquire: fc.Arbitrary<Command> = fc
  .tuple(acquire, fc.constantFrom(0, 1, 2), fc.boolean())
  .map(([command, preference, isEager]) => ({
    ...command,
    ...(preference === 0 ? {} : { candidate: { preference, version: "1.2.3", zone: "eu" } }),
    ...(isEager ? { preempts: true as const } : {}),
  }));

/** By a session. */
const bySession: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: acquire },
  { weight: 2, arbitrary: eagerAcquire },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("claimLease" as const), lease }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("releaseLease" as const), lease }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("loseLease" as const), lease }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("cancelAcquire" as const),
      sequence: fc.integer({ min: 1, max: 12 }),
    }),
  },
  fc.record({ kind: fc.constant("closeSession" as const), session }),
  fc.record({
    kind: fc.constant("put" as const),
    key: fc.constantFrom("a", "b"),
    value: fc.constant(new Uint8Array(0)),
    format: fc.constant("bytes" as const),
    condition: fc.constant({ kind: "none" } as const),
    attached: fc.constant(true as const),
  }),
);

/** By anybody, or by the leader. */
const byOthers: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("leasesDue" as const),
      office,
      due: fc.array(
        fc.record({
          what: fc.constantFrom(
            "passOn" as const,
            "revoke" as const,
            "finish" as const,
            "endDelay" as const,
            "grant" as const,
          ),
          name,
          term,
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("expireSessions" as const), office, sessions: someSessions }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("breakLease" as const),
      name,
      afterMs: fc.constantFrom(0, 100),
      force: fc.boolean(),
    }),
  },
  fc.record({ kind: fc.constant("requestHandover" as const), name }),
  fc.record({ kind: fc.constant("markSilence" as const), office, sessions: someSessions }),
  fc.record({
    kind: fc.constant("renewSessions" as const),
    sessions: fc.array(session, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant("closeSession" as const), session }),
  fc.record({
    kind: fc.constant("put" as const),
    key: fc.constant("a"),
    value: fc.constant(new Uint8Array(0)),
    format: fc.constant("bytes" as const),
    condition: fc.constant({ kind: "none" } as const),
    fence: lease,
  }),
);

const step: fc.Arbitrary<Proposal> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      origin: fc.record({
        kind: fc.constant("session" as const),
        session,
        sequence: fc.integer({ min: 1, max: 12 }),
        ackedBelow: fc.constantFrom(0, 1, 1, 3),
      }),
      command: bySession,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ origin: fc.constant({ kind: "anonymous" } as const), command: byOthers }),
  },
);

export interface LeaseHistory {
  readonly proposals: readonly Proposal[];
  readonly entries: readonly AppliedEntry[];
}

export const leaseHistories: fc.Arbitrary<LeaseHistory> = leaseHistoriesOf({});
/** Most of them of dozens of commands. */
export const longLeaseHistories: fc.Arbitrary<LeaseHistory> = leaseHistoriesOf({ size: "medium" });

/** Begins with four sessions, the last of which no silence ends, and with the newest version of the machine. */
function leaseHistoriesOf(size: fc.ArrayConstraints): fc.Arbitrary<LeaseHistory> {
  return fc.array(step, { ...size, maxLength: 60 }).map((steps) => {
    const open: Proposal = { origin: { kind: "anonymous" }, command: { kind: "openSession", ttlMs: 5_000 } };
    const endless: Proposal = {
      ...open,
      command: { kind: "openSession", ttlMs: Number.POSITIVE_INFINITY },
    };
    const raise: Proposal = {
      ...open,
      command: { kind: "raiseVersion", office: 1, version: machineVersion },
    };
    const first = [open, open, open, endless, raise];
    const proposals = [...first, ...steps];
    const entries = proposals.map((proposal, at): AppliedEntry => {
      const term = at < Math.max(first.length, proposals.length / 2) ? 1 : 2;
      return { index: at + 1, term, kind: "command", data: encodeProposal(proposal) };
    });
    return { proposals, entries };
  });
}
