/**
 * The options of every call of a cluster object, by name. What a call does not take is refused, with where it belongs:
 * `docs/reference/options.md` lists the same, which a test compares.
 *
 * The compiler holds each list against its type; nothing is checked here but names.
 */
import { invariant, type OptionNames, refuseUnknownOptions } from "@quorate/raft";
import type {
  ListOptions,
  MemberChangeOptions,
  PutOptions,
  ReadOptions,
  RequestOptions,
  SessionListOptions,
  TransferOptions,
  WriteOptions,
} from "./cluster.ts";
import type { ConnectOptions } from "./connect.ts";
import type { BreakOptions, CandidateOptions, LeaseListOptions, LeaseOptions } from "./leaseApi.ts";
import type { LeadOptions } from "./recipes/election.ts";
import type { ElectionOptions } from "./recipes/electionOptions.ts";
import type { OnceOptions } from "./recipes/once.ts";
import type { WorkOptions } from "./recipes/workUnderLease.ts";
import type { WatchOptions } from "./watching.ts";

const request: OptionNames<RequestOptions> = { signal: true, timeoutMs: true };
const signal: OptionNames<Pick<RequestOptions, "signal">> = { signal: true };
const read: OptionNames<ReadOptions> = { ...request, consistency: true, revision: true };
const write: OptionNames<WriteOptions> = { ...request, ifRevision: true, ifAbsent: true, fence: true };
const put: OptionNames<PutOptions> = { ...write, attached: true };
const list: OptionNames<ListOptions> = {
  ...read,
  limit: true,
  cursor: true,
  order: true,
  keysOnly: true,
  count: true,
};
const watch: OptionNames<WatchOptions> = {
  from: true,
  prevKv: true,
  filter: true,
  progress: true,
  signal: true,
};
const member: OptionNames<MemberChangeOptions> = { ...request, ifIndex: true };
const lease: OptionNames<LeaseOptions> = {
  ...request,
  ttlMs: true,
  holder: true,
  data: true,
  priority: true,
  preference: true,
  asksHandover: true,
  preempts: true,
  version: true,
  zone: true,
  lockDelayMs: true,
  progressMs: true,
  renewEveryMs: true,
  renewDeadlineMs: true,
};
const work: OptionNames<WorkOptions> = { exitOnLossMs: true, exit: true };
const lead: OptionNames<LeadOptions> = {
  ...work,
  signal: true,
  rejoin: true,
  onLost: true,
  onNewLeader: true,
};
const election: OptionNames<ElectionOptions> = {
  leaseDurationMs: true,
  renewDeadlineMs: true,
  retryPeriodMs: true,
  candidate: true,
  data: true,
  strategy: true,
  priority: true,
  version: true,
  zone: true,
  preferredZones: true,
  preempt: true,
};
const connect: OptionNames<ConnectOptions> = {
  endpoints: true,
  requestTimeoutMs: true,
  sessionTtlMs: true,
  session: true,
  secret: true,
  tls: true,
  logger: true,
  network: true,
  clock: true,
  random: true,
};
const breaking: OptionNames<BreakOptions> = { ...request, afterMs: true, force: true };
const leaseList: OptionNames<LeaseListOptions> = { ...request, prefix: true, limit: true };
const candidates: OptionNames<CandidateOptions> = { ...request, limit: true };
const sessionList: OptionNames<SessionListOptions> = { ...request, after: true, limit: true };
const once: OptionNames<OnceOptions> = { ...request, ttlMs: true };
const transfer: OptionNames<TransferOptions> = { ...request, target: true };

export type OptionsByCall = Readonly<Record<string, Readonly<Record<string, true>>>>;

/** What each call takes. `cluster.lock` takes none: its `acquire`, `tryAcquire` and `run` do. */
export const clientOptions: OptionsByCall = {
  connect,
  "kv.get": read,
  "kv.put": put,
  "kv.delete": write,
  "kv.list": list,
  "kv.count": read,
  "kv.deleteRange": request,
  "kv.watch": watch,
  "kv.limit": request,
  "txn.commit": request,
  "watch.started": { timeoutMs: true },
  "cluster.election": election,
  "election.lead": lead,
  "election.campaign": request,
  "election.candidates": candidates,
  "election.leader": request,
  "election.observe": signal,
  "election.proclaim": request,
  "election.resign": request,
  "cluster.lock": {},
  "lock.acquire": lease,
  "lock.tryAcquire": lease,
  "lock.run": { ...lease, ...work },
  "cluster.using": request,
  "cluster.once": once,
  "cluster.lease.acquire": lease,
  "cluster.lease.tryAcquire": lease,
  "cluster.lease.get": request,
  "cluster.lease.list": leaseList,
  "cluster.lease.candidates": candidates,
  "cluster.lease.verify": request,
  "cluster.lease.history": request,
  "cluster.lease.watch": signal,
  "cluster.lease.break": breaking,
  "cluster.lease.grantAtOnce": request,
  "cluster.lease.requestHandover": request,
  "lease.proclaim": request,
  "lease.checkpoint": request,
  "lease.lastCheckpoint": request,
  "lease.renew": request,
  "lease.ensure": request,
  "lease.release": request,
  "members.list": request,
  "members.promote": member,
  "members.demote": member,
  "members.remove": member,
  "members.move": member,
  "members.change": member,
  "sessions.list": sessionList,
  "sessions.close": request,
  "cluster.status": request,
  "cluster.health": request,
  "cluster.snapshot": request,
  "cluster.transferLeadership": transfer,
};

/** What one call names so, others name otherwise. */
const sameThing: readonly (readonly string[])[] = [
  ["ttlMs", "leaseDurationMs", "sessionTtlMs"],
  ["renewEveryMs", "retryPeriodMs"],
  ["holder", "candidate"],
  ["preempts", "preempt"],
  ["timeoutMs", "requestTimeoutMs"],
];

/** The options that a call was given; throws `INVALID_OPTIONS` where it does not take one of them. */
export function taken<Options>(call: string, given: Options): Options {
  return takenIn(clientOptions, call, given);
}

/** The same for the calls of another table. */
export function takenIn<Options>(table: OptionsByCall, call: string, given: Options): Options {
  const names = table[call];
  invariant(names !== undefined, "a call that takes options is in their table", { call });
  refuseUnknownOptions(given, { call: `${call}()`, names, placeOf: (name) => placeOf(table, call, name) });
  return given;
}

/** The same thing as this call names it; or the call beside it that takes it; or any other, the first of the table. */
function placeOf(table: OptionsByCall, call: string, name: string): string | undefined {
  const words = sameThing.find((same) => same.includes(name)) ?? [];
  const takes = (taker: string, word: string): boolean => Object.hasOwn(table[taker] ?? {}, word);
  const own = words.find((word) => takes(call, word));
  if (own !== undefined) return `here it is called ${own}`;
  const others = Object.keys(table).filter((other) => other !== call);
  const beside = others.filter((other) => subjectOf(other) === subjectOf(call));
  const exact = (from: readonly string[]): string | undefined => from.find((other) => takes(other, name));
  const taker = exact(beside);
  if (taker !== undefined) return `it is given to ${taker}()`;
  for (const word of words) {
    const namer = beside.find((other) => takes(other, word));
    if (namer !== undefined) return `it is called ${word} and given to ${namer}()`;
  }
  const stranger = exact(others);
  return stranger === undefined ? undefined : `it is given to ${stranger}()`;
}

/** `election` of `cluster.election` and of `election.lead`. */
function subjectOf(call: string): string {
  return call.replace(/^cluster\./, "").split(".")[0] as string;
}
