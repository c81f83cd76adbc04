/** `cluster.lease`: leases as users ask for them, on top of what acquires them (leases.ts). */
import { QuorateError } from "@quorate/raft";
import { backoffMs } from "./backoff.ts";
import { type Answer, type CallPolicy, senseless } from "./caller.ts";
import type { KeyValueStore, RequestOptions } from "./cluster.ts";
import { StaleTermError } from "./fencing/staleTermError.ts";
import type { HeldLease, LeaseActs } from "./heldLease.ts";
import { type AskPorts, patienceOptions } from "./kv.ts";
import type {
  BreakOptions,
  CandidateOptions,
  LeaseCandidate,
  LeaseInfo,
  LeaseListOptions,
  LeaseStore,
  LeaseTenure,
} from "./leaseApi.ts";
import { LeaseLostError } from "./leaseLostError.ts";
import { leaseData, leaseName } from "./leasePlan.ts";
import { LeaseAcquirer } from "./leases.ts";
import { taken } from "./optionNames.ts";
import { Patience, pause, within } from "./patience.ts";
import {
  type CandidateReport,
  type Command,
  type CommandResult,
  keyAfter,
  type LeaseReport,
  maxBreakAfterMs,
  maxListLimit,
  prefixRange,
  type RequestBody,
  textOfByteString,
} from "./protocol/index.ts";
import type { Router } from "./router.ts";
import type { LeaseCounts } from "./seen/leaseCounts.ts";
import { parseSequencer, type Sequencer } from "./sequencer.ts";
import type { Session } from "./session.ts";
import { decodeValue, keyBytes } from "./values.ts";
import { unexpected, type Writer } from "./writer.ts";

export interface LeaseStorePorts extends AskPorts {
  readonly router: Router;
  /** Undefined where the cluster object was made without a session: then it can hold none. */
  readonly sessions: Session | undefined;
  readonly writer: Writer;
  readonly kv: KeyValueStore;
  readonly counts: LeaseCounts;
}

const reading: CallPolicy = { target: "home", resend: "always", hasEffect: false };
const watchMs = 30_000;
const pauses = { firstMs: 50, factor: 2, capMs: 1_000 };
const checkpointPrefix = "quorate/checkpoint/";

export function leaseStore(ports: LeaseStorePorts): LeaseStore {
  const { sessions, calls, router } = ports;
  const acquirer =
    sessions === undefined
      ? undefined
      : new LeaseAcquirer({ calls, router, sessions, acts: actsOf(ports), counts: ports.counts });
  const able = (): LeaseAcquirer => {
    if (acquirer !== undefined) return acquirer;
    throw new QuorateError(
      "INVALID_ARGUMENT",
      "This cluster object was made with `session: false`, and a lease lives as long as a session. Leave that out.",
    );
  };
  return {
    async acquire(names, options = {}) {
      const lease = await able().acquire(names, taken("cluster.lease.acquire", options), true);
      if (lease === undefined) throw new Error("An acquire that waits ends with a lease.");
      return lease;
    },
    tryAcquire: async (names, options = {}) =>
      able().acquire(names, taken("cluster.lease.tryAcquire", options), false),
    get: async (name, options = {}) => infoOf(await read(ports, name, taken("cluster.lease.get", options))),
    list: async (options = {}) => list(ports, taken("cluster.lease.list", options)),
    candidates: async (name, options = {}) =>
      candidates(ports, name, taken("cluster.lease.candidates", options)),
    verify: async (sequencer, options = {}) =>
      verify(ports, sequencer, taken("cluster.lease.verify", options)),
    history: async (name, options = {}) => history(ports, name, taken("cluster.lease.history", options)),
    watch: (name, options = {}) => watch(ports, name, taken("cluster.lease.watch", options).signal),
    break: async (name, options = {}) => breakLease(ports, name, taken("cluster.lease.break", options)),
    grantAtOnce: async (options = {}) =>
      didAnything(await execute(ports, { kind: "grantAtOnce" }, taken("cluster.lease.grantAtOnce", options))),
    requestHandover: async (name, options = {}) => {
      const asked: Command = { kind: "requestHandover", name: leaseName(name) };
      return didAnything(await execute(ports, asked, taken("cluster.lease.requestHandover", options)));
    },
  };
}

function actsOf(ports: LeaseStorePorts): LeaseActs {
  return {
    renew: async (lease, options) => renew(ports, lease, options),
    release: async (lease, options) => release(ports, lease, options),
    giveUp: (lease) => giveUp(ports, lease),
    async proclaim(lease, data, options) {
      const { bytes, format } = leaseData(data);
      const command: Command = { kind: "describeLease", lease: leaseAt(lease), data: bytes, format };
      const executed = await run(ports, options, (patience) =>
        lease.facts.session.execute(command, patience),
      );
      if (executed?.result.kind !== "leaseDone") throw new LeaseLostError(lease.name, lease.term, "revoked");
    },
    async checkpoint(lease, data, options) {
      await ports.kv.put(checkpointPrefix + lease.name, data, { ...options, fence: lease });
    },
    lastCheckpoint: async (lease, options) =>
      (await ports.kv.get(checkpointPrefix + lease.name, options))?.value,
  };
}

/** Waits no longer than it can be held. */
async function renew(ports: LeaseStorePorts, lease: HeldLease, options: RequestOptions): Promise<void> {
  const { signal } = lease;
  await run(ports, options, async (patience) => {
    // Not `AbortSignal.any`: what that makes of a signal which lives for long is never forgotten by it in Node.js 20.
    const end = (): void => patience.end({ kind: "aborted", reason: signal.reason });
    signal.addEventListener("abort", end, { once: true });
    try {
      await lease.facts.session.refresh(patience);
    } finally {
      signal.removeEventListener("abort", end);
    }
  });
}

/** In the background, too, where the patience of whoever waits for it ends first. */
async function release(ports: LeaseStorePorts, lease: HeldLease, options: RequestOptions): Promise<void> {
  const { session } = lease.facts;
  const released = ownsSession(ports, lease)
    ? session.close()
    : session.insist({ kind: "releaseLease", lease: leaseAt(lease) });
  await run(ports, options, async (patience) => {
    await within(released, patience);
    if (patience.ended !== undefined)
      throw ports.caller.ended(patience, true, "it is released as soon as it can be");
  });
}

/** Lost here, while its session may live on: the cluster must not keep it for nobody. */
function giveUp(ports: LeaseStorePorts, lease: HeldLease): void {
  const { session } = lease.facts;
  if (session.hasEnded) return;
  // A session of its own is left to expire: an unclean end, after which its lock delay runs.
  if (ownsSession(ports, lease)) {
    if (session.isEndless) void session.close();
    else session.giveUp();
  } else {
    const at = leaseAt(lease);
    void session.insist({ kind: "loseLease", lease: at }, { kind: "releaseLease", lease: at });
  }
}

function ownsSession({ sessions }: LeaseStorePorts, lease: HeldLease): boolean {
  return sessions?.isShared(lease.facts.session) === false;
}

function leaseAt(lease: HeldLease): { readonly name: string; readonly term: number } {
  return { name: leaseName(lease.name), term: lease.term };
}

async function read(ports: LeaseStorePorts, name: string, options: RequestOptions): Promise<LeaseReport> {
  const body: RequestBody = { kind: "getLease", name: leaseName(name), consistency: "linearizable" };
  return reportIn(await ask(ports, body, options));
}

/** Decided as a fenced write is: a grant counts that its holder knows of, also where it is about to end. */
async function verify(
  ports: LeaseStorePorts,
  sequencer: string,
  options: RequestOptions,
): Promise<Sequencer> {
  const asked = parseSequencer(sequencer);
  const { state, session, term } = await read(ports, asked.name, options);
  if (term === asked.term && (state === "held" || state === "ending")) return asked;
  const why = session === 0 ? "nobody holds it now" : `it is held under term ${term} now`;
  throw new StaleTermError(asked.name, asked.term, session === 0 ? 0 : term, why);
}

async function candidates(
  ports: LeaseStorePorts,
  name: string,
  options: CandidateOptions,
): Promise<readonly LeaseCandidate[]> {
  const limit = limitIn(options);
  const body: RequestBody = {
    kind: "listCandidates",
    name: leaseName(name),
    limit,
    consistency: "linearizable",
  };
  const answer = await ask(ports, body, options);
  if (answer.kind !== "candidates") throw senseless("a read", answer, "none");
  return answer.candidates.map(candidateOf);
}

function candidateOf({ holder, version, zone, ...rest }: CandidateReport): LeaseCandidate {
  return {
    ...rest,
    holder: textOfByteString(holder),
    version: textOfByteString(version),
    zone: textOfByteString(zone),
  };
}

function limitIn({ limit = 1_000 }: { readonly limit?: number }): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxListLimit) return limit;
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `The limit is ${limit}; it has to be from 1 to ${maxListLimit}.`,
  );
}

async function list(ports: LeaseStorePorts, options: LeaseListOptions): Promise<readonly LeaseInfo[]> {
  const { prefix = "" } = options;
  const limit = limitIn(options);
  let range = prefixRange(keyBytes(prefix, "prefix", 0));
  const found: LeaseReport[] = [];
  for (;;) {
    const page = { range, limit: limit - found.length } as const;
    const body: RequestBody = { kind: "listLeases", ...page, consistency: "linearizable" };
    const answer = await ask(ports, body, options);
    if (answer.kind !== "leases") throw senseless("a read", answer, "none");
    found.push(...answer.leases);
    const last = answer.leases.at(-1);
    if (!answer.more || last === undefined || found.length >= limit) return found.map(infoOf);
    range = { from: keyAfter(last.name), to: range.to };
  }
}

async function history(
  ports: LeaseStorePorts,
  name: string,
  options: RequestOptions,
): Promise<readonly LeaseTenure[]> {
  const body: RequestBody = { kind: "leaseHistory", name: leaseName(name), consistency: "linearizable" };
  const answer = await ask(ports, body, options);
  if (answer.kind !== "leaseHistory") throw senseless("a read", answer, "none");
  const past = answer.past.map((grant) => ({ ...grant, holder: textOfByteString(grant.holder) }));
  const { session, term, holder } = answer.lease;
  if (session === 0) return past;
  return [...past, { term, session, holder: textOfByteString(holder), toRevision: null, end: null }];
}

async function* watch(
  ports: LeaseStorePorts,
  name: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<LeaseInfo> {
  let last: LeaseReport | undefined;
  for (let failures = 0; !signal?.aborted; ) {
    try {
      const next = await nextReport(ports, name, last, signal);
      failures = 0;
      if (last !== undefined && next.changed <= last.changed) continue;
      last = next;
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof QuorateError) || !error.retryable || last === undefined) throw error;
      if (error.code === "TIMED_OUT") continue;
      await pauseAfter(ports, failures, signal);
      failures += 1;
      continue;
    }
    yield infoOf(last);
  }
}

/** The first one is a read like any other; later ones come when something of the lease changes. */
function nextReport(
  ports: LeaseStorePorts,
  name: string,
  last: LeaseReport | undefined,
  signal: AbortSignal | undefined,
): Promise<LeaseReport> {
  if (last === undefined) return read(ports, name, signal === undefined ? {} : { signal });
  const body: RequestBody = { kind: "awaitLease", name: leaseName(name), changed: last.changed };
  return ports.calls.wait({ timeoutMs: watchMs, signal }, async (patience) =>
    reportIn((await ports.caller.call(body, reading, patience)).body),
  );
}

async function pauseAfter(
  { router: { clock, random } }: LeaseStorePorts,
  failures: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const patience = new Patience(clock, { timeoutMs: watchMs, signal });
  await pause(clock, backoffMs(random, pauses, failures), patience);
  patience.dispose();
}

async function breakLease(ports: LeaseStorePorts, name: string, options: BreakOptions): Promise<boolean> {
  const { afterMs = 0, force = false } = options;
  if (!Number.isSafeInteger(afterMs) || afterMs < 0 || afterMs > maxBreakAfterMs) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      `afterMs is ${afterMs}; it has to be an integer from 0 to ${maxBreakAfterMs} ms.`,
    );
  }
  const command: Command = { kind: "breakLease", name: leaseName(name), afterMs, force };
  return didAnything(await execute(ports, command, options));
}

async function execute(
  ports: LeaseStorePorts,
  command: Command,
  options: RequestOptions,
): Promise<CommandResult> {
  const { result } = await run(ports, options, (patience) => ports.writer.execute(command, patience));
  return result;
}

function didAnything(result: CommandResult): boolean {
  if (result.kind === "leaseDone") return true;
  if (result.kind === "leaseNotHeld") return false;
  if (result.kind === "gracePeriod") return result.forMs > 0;
  throw unexpected(result, false);
}

async function ask(ports: LeaseStorePorts, body: RequestBody, options: RequestOptions): Promise<Answer> {
  return (await run(ports, options, (patience) => ports.caller.call(body, reading, patience))).body;
}

function run<T>(
  ports: LeaseStorePorts,
  options: RequestOptions,
  body: (patience: Patience) => Promise<T>,
): Promise<T> {
  return ports.calls.run(patienceOptions(options, ports.requestTimeoutMs), body);
}

function reportIn(answer: Answer): LeaseReport {
  if (answer.kind === "lease") return answer.lease;
  throw senseless("a read", answer, "none");
}

function infoOf(report: LeaseReport): LeaseInfo {
  const { state, term, transitions, session, holder, data, format, handover, waiting } = report;
  return {
    name: textOfByteString(report.name),
    state,
    term: term === 0 ? null : term,
    transitions,
    holder: session === 0 ? null : textOfByteString(holder),
    session: session === 0 ? null : session,
    data: data.length === 0 && format === "bytes" ? undefined : decodeValue({ value: data, format }),
    handoverRequested: handover,
    waiting,
  };
}
