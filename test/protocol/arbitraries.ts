/** Everything that the client protocol can say, for property tests. */
import type {
  ByteString,
  Command,
  CommandResult,
  Condition,
  Failure,
  Format,
  KeyRange,
  LeaderCommand,
  LeaseAt,
  LeaseCommand,
  LeaseRequest,
  LeaseResult,
  MembershipChange,
  MembershipReport,
  Origin,
  Proposal,
  ReportedStatus,
  Request,
  RequestBody,
  Response,
  ResponseBody,
  StoredPair,
} from "@quorate/client/protocol";
import fc from "fast-check";
import { leasesAsRead } from "./leaseArbitraries.ts";
import { eager, sessionRequests, sessionResponses, timesToLive } from "./sessionArbitraries.ts";
import { storeCommands, storeRequests, storeResponses, storeResults } from "./storeArbitraries.ts";

const byteChar: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 255 })
  .map((byte) => String.fromCharCode(byte));

export function byteStrings(minLength: number, maxLength: number): fc.Arbitrary<ByteString> {
  return fc.string({ unit: byteChar, minLength, maxLength });
}

export const keys: fc.Arbitrary<ByteString> = byteStrings(1, 24);
export const values: fc.Arbitrary<Uint8Array> = fc.uint8Array({ maxLength: 40 });
export const formats: fc.Arbitrary<Format> = fc.constantFrom<Format>("bytes", "text", "json");

const naturals = fc.oneof(fc.nat(300), fc.maxSafeNat());
const counts = naturals.map((value) => Math.max(1, value));

export const conditions: fc.Arbitrary<Condition> = fc.oneof(
  fc.constant<Condition>({ kind: "none" }),
  fc.constant<Condition>({ kind: "absent" }),
  fc.record({ kind: fc.constant("revision" as const), revision: naturals }),
);

const names = byteStrings(1, 12);
const leasesAt: fc.Arbitrary<LeaseAt> = fc.record({ name: names, term: counts });
const ranges: fc.Arbitrary<KeyRange> = fc.record({ from: byteStrings(0, 8), to: byteStrings(0, 8) });
const basics = { keys, values, formats, naturals, counts, ranges, leasesAt };
const sessionsAt = fc.array(fc.record({ session: counts, renewals: naturals }), {
  minLength: 1,
  maxLength: 4,
});

const leaseCommands: fc.Arbitrary<LeaderCommand | LeaseCommand> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("expireSessions" as const, "markSilence" as const),
    office: counts,
    sessions: sessionsAt,
  }),
  fc.record({ kind: fc.constant("endGrace" as const), office: counts }),
  fc.constant<LeaseCommand>({ kind: "grantAtOnce" }),
  fc.record({
    kind: fc.constant("renewSessions" as const),
    sessions: fc.array(counts, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant("leasesDue" as const),
    office: counts,
    due: fc.array(
      fc.record({
        what: fc.constantFrom(
          "passOn" as const,
          "revoke" as const,
          "finish" as const,
          "endDelay" as const,
          "grant" as const,
        ),
        name: names,
        term: counts,
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  eager(
    fc.record({
      kind: fc.constant("acquireLease" as const),
      names: fc.uniqueArray(names, { minLength: 1, maxLength: 4 }),
      wait: fc.boolean(),
      priority: fc.integer({ min: -2_147_483_647 }),
      asksHandover: fc.boolean(),
      holder: byteStrings(0, 12),
      data: values,
      format: formats,
      lockDelayMs: fc.nat(3_600_000),
    }),
  ),
  fc.record({ kind: fc.constant("cancelAcquire" as const), sequence: counts }),
  fc.record({
    kind: fc.constantFrom("claimLease" as const, "releaseLease" as const, "loseLease" as const),
    lease: leasesAt,
  }),
  fc.record({
    kind: fc.constant("describeLease" as const),
    lease: leasesAt,
    data: values,
    format: formats,
  }),
  fc.record({
    kind: fc.constant("breakLease" as const),
    name: names,
    afterMs: fc.nat(86_400_000),
    force: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("requestHandover" as const), name: names }),
);

/** Left out where there is none, as the decoder does. */
const fences = fc.option(leasesAt, { nil: undefined });
function fenced<Write extends object>(write: fc.Arbitrary<Write>): fc.Arbitrary<Write & { fence?: LeaseAt }> {
  return fc
    .tuple(write, fences)
    .map(([fields, fence]) => (fence === undefined ? fields : { ...fields, fence }));
}

export const commands: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ kind: fc.constant("raiseVersion" as const), office: counts, version: counts }),
  fenced(
    fc
      .record({
        kind: fc.constant("put" as const),
        key: keys,
        value: values,
        format: formats,
        condition: conditions,
      })
      .chain((put) => fc.constantFrom(put, { ...put, attached: true as const })),
  ),
  fenced(fc.record({ kind: fc.constant("delete" as const), key: keys, condition: conditions })),
  leaseCommands,
  fc.record({ kind: fc.constant("openSession" as const), ttlMs: timesToLive }),
  fc.record({ kind: fc.constant("closeSession" as const), session: counts }),
  fc.record({ kind: fc.constant("expireSession" as const), session: counts, term: counts }),
  storeCommands(basics),
);

export const origins: fc.Arbitrary<Origin> = fc.oneof(
  fc.constant<Origin>({ kind: "anonymous" }),
  fc.record({
    kind: fc.constant("session" as const),
    session: counts,
    sequence: counts,
    ackedBelow: naturals,
  }),
);

export const proposals: fc.Arbitrary<Proposal> = fc.record({ origin: origins, command: commands });

const consistencies = fc.constantFrom("linearizable" as const, "local" as const);

const membershipChanges: fc.Arbitrary<MembershipChange> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("promote" as const, "demote" as const, "remove" as const),
    member: fc.string(),
  }),
  fc.record({ kind: fc.constant("move" as const), member: fc.string(), endpoint: fc.webUrl() }),
);

const memberships: fc.Arbitrary<MembershipReport> = fc.record({
  clusterId: fc.string(),
  index: naturals,
  members: fc.array(
    fc.record({
      id: fc.string(),
      member: fc.string(),
      endpoint: fc.webUrl(),
      role: fc.constantFrom("voter" as const, "learner" as const),
      leaving: fc.boolean(),
      promotes: fc.boolean(),
      replaces: fc.string(),
    }),
    { maxLength: 5 },
  ),
});

const leaseRequests: fc.Arbitrary<LeaseRequest> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("renew" as const, "awaitSession" as const),
    session: counts,
    version: naturals,
  }),
  fc.record({
    kind: fc.constantFrom("getLease" as const, "leaseHistory" as const),
    name: names,
    consistency: consistencies,
  }),
  fc.array(fc.tuple(counts, naturals), { minLength: 1, maxLength: 5 }).map((renewals) => ({
    kind: "renewAll" as const,
    sessions: renewals.map(([session]) => session),
    versions: renewals.map(([, version]) => version),
  })),
  fc.record({ kind: fc.constant("awaitLease" as const), name: names, changed: naturals }),
  fc.record({
    kind: fc.constant("listLeases" as const),
    range: ranges,
    limit: fc.integer({ min: 1, max: 10_000 }),
    consistency: consistencies,
  }),
);

const requestBodies: fc.Arbitrary<RequestBody> = fc.oneof(
  leaseRequests,
  sessionRequests(basics),
  fc.constant<RequestBody>({ kind: "takeSnapshot" }),
  fc.record({ kind: fc.constant("snapshotPart" as const), snapshot: fc.string(), part: naturals }),
  fc.record({ kind: fc.constant("execute" as const), proposal: values }),
  fc.record({ kind: fc.constant("get" as const), key: keys, consistency: consistencies }),
  fc.record({
    kind: fc.constant("list" as const),
    range: ranges,
    limit: fc.integer({ min: 1, max: 10_000 }),
    reverse: fc.boolean(),
    keysOnly: fc.boolean(),
    consistency: consistencies,
  }),
  storeRequests(basics),
  fc.record({ kind: fc.constant("keepAlive" as const), session: counts }),
  fc.constant<RequestBody>({ kind: "status" }),
  fc.record({ kind: fc.constant("transfer" as const), target: fc.stringMatching(/^[a-z0-9]{0,63}$/) }),
  fc.constant<RequestBody>({ kind: "listMembers" }),
  fc.record({
    kind: fc.constant("changeMembers" as const),
    changes: fc.array(membershipChanges, { maxLength: 4 }),
    ifIndex: fc.oneof(fc.constant(-1), naturals),
  }),
  fc.record({
    kind: fc.constant("joinCluster" as const),
    member: fc.string(),
    endpoint: fc.webUrl(),
    votes: fc.boolean(),
  }),
);

export const requests: fc.Arbitrary<Request> = fc.record({
  id: naturals,
  timeoutMs: fc.integer({ min: 1, max: 2_147_483_647 }),
  body: requestBodies,
});

const leaseResults: fc.Arbitrary<LeaseResult> = fc.oneof(
  fc.record({ kind: fc.constantFrom("leaseGranted" as const, "leaseDone" as const), term: counts }),
  fc.record({ kind: fc.constantFrom("leaseNotHeld" as const, "staleFence" as const), term: naturals }),
  fc.record({ kind: fc.constant("leaseQueued" as const), ahead: naturals }),
  fc.record({ kind: fc.constant("gracePeriod" as const), forMs: counts }),
  fc.record({
    kind: fc.constant("leaseUnavailable" as const),
    at: fc.nat(31),
    term: naturals,
    holder: byteStrings(0, 12),
  }),
  fc.constant<LeaseResult>({ kind: "acquireCancelled" }),
);

const pairs: fc.Arbitrary<StoredPair> = fc.record(
  {
    key: keys,
    value: values,
    format: formats,
    createRevision: counts,
    modRevision: counts,
    version: counts,
    session: counts,
  },
  { requiredKeys: ["key", "value", "format", "createRevision", "modRevision", "version"] },
);

export const results: fc.Arbitrary<CommandResult> = fc.oneof(
  leaseResults,
  storeResults(basics, pairs),
  fc.record({ kind: fc.constant("put" as const), revision: counts }),
  fc.record({ kind: fc.constant("deleted" as const), revision: naturals, existed: fc.boolean() }),
  fc.record({ kind: fc.constant("conflict" as const), modRevision: naturals }),
  fc.record({ kind: fc.constant("sessionOpened" as const), session: counts }),
  fc.record({ kind: fc.constant("sessionClosed" as const), existed: fc.boolean() }),
  fc.record({ kind: fc.constantFrom("malformed" as const, "refused" as const), reason: fc.string() }),
  fc.record({
    kind: fc.constantFrom(
      "sessionEnded" as const,
      "alreadyAcknowledged" as const,
      "beyondWindow" as const,
      "answersFull" as const,
      "nothing" as const,
    ),
  }),
);

const { leaseReports, pastGrants, leaseSets } = leasesAsRead(basics);

const failures: fc.Arbitrary<Failure> = fc.record({
  code: fc.string(),
  message: fc.string({ unit: "grapheme" }),
  retryable: fc.boolean(),
  outcome: fc.constantFrom("none" as const, "unknown" as const),
  leaderEndpoint: fc.string(),
});

const statuses: fc.Arbitrary<ReportedStatus> = fc.record({
  id: fc.string(),
  pid: naturals,
  standing: fc.constantFrom("unborn" as const, "lost" as const, "born" as const, "closed" as const),
  clusterId: fc.string(),
  role: fc.constantFrom(
    "follower" as const,
    "preCandidate" as const,
    "candidate" as const,
    "leader" as const,
  ),
  term: naturals,
  leader: fc.string(),
  commitIndex: naturals,
  appliedIndex: naturals,
  lastIndex: naturals,
  revision: naturals,
  mute: fc.boolean(),
  members: fc.array(fc.record({ id: fc.string(), endpoint: fc.webUrl() }), { maxLength: 5 }),
  complaints: fc.array(fc.string(), { maxLength: 3 }),
});

const responseBodies: fc.Arbitrary<ResponseBody> = fc.oneof(
  fc.record({ kind: fc.constant("snapshotPart" as const), bytes: values }),
  fc.record({
    kind: fc.constant("snapshotTaken" as const),
    snapshot: fc.string(),
    index: naturals,
    term: naturals,
    revision: naturals,
    membership: memberships,
  }),
  fc.record({
    kind: fc.constant("sessionState" as const),
    alive: fc.boolean(),
    set: fc.option(leaseSets, { nil: undefined }),
  }),
  fc.record({ kind: fc.constant("renewedAll" as const), apart: fc.array(counts, { maxLength: 5 }) }),
  fc.record({ kind: fc.constant("lease" as const), lease: leaseReports, revision: naturals }),
  fc.record({
    kind: fc.constant("leaseHistory" as const),
    lease: leaseReports,
    past: fc.array(pastGrants, { maxLength: 3 }),
    revision: naturals,
  }),
  fc.record({
    kind: fc.constant("leases" as const),
    leases: fc.array(leaseReports, { maxLength: 3 }),
    more: fc.boolean(),
    revision: naturals,
  }),
  sessionResponses(basics),
  fc.record({ kind: fc.constant("members" as const), membership: memberships }),
  fc.record({ kind: fc.constant("executed" as const), result: results }),
  fc.record({
    kind: fc.constant("got" as const),
    pair: fc.option(pairs, { nil: undefined }),
    revision: naturals,
  }),
  fc.record({
    kind: fc.constant("listed" as const),
    pairs: fc.array(pairs, { maxLength: 5 }),
    more: fc.boolean(),
    revision: naturals,
  }),
  storeResponses(basics, pairs),
  fc.record({ kind: fc.constant("keptAlive" as const), alive: fc.boolean() }),
  fc.record({ kind: fc.constant("status" as const), status: statuses }),
  fc.record({ kind: fc.constant("failed" as const), failure: failures }),
  fc.record({
    kind: fc.constant("transferred" as const),
    leader: fc.stringMatching(/^[a-z0-9]{1,63}$/),
    term: naturals,
  }),
);

export const responses: fc.Arbitrary<Response> = fc.record({ id: naturals, body: responseBodies });
