/** What is asked of an acquire, checked before anything is sent. */
import { QuorateError } from "@quorate/raft";
import type { LeaseOptions } from "./leaseApi.ts";
import {
  type ByteString,
  type Candidacy,
  type Command,
  isPlainCandidacy,
  isSessionTtl,
  maxCandidateWordBytes,
  maxHolderBytes,
  maxLeaseDataBytes,
  maxLeaseNameBytes,
  maxLockDelayMs,
  maxNamesAtOnce,
  maxPreference,
  maxPriority,
  maxSessionTtlMs,
  utf8ByteString,
} from "./protocol/index.ts";
import { encodeValue, keyBytes } from "./values.ts";

export interface AcquirePlan {
  readonly shownNames: readonly string[];
  readonly names: readonly ByteString[];
  readonly command: Extract<Command, { kind: "acquireLease" }>;
  readonly ttlMs: number;
  readonly renewEveryMs: number;
  readonly progressMs: number | undefined;
  /** Once it is held, its holder renews it. */
  readonly isManual: boolean;
  /** The lease has a session to itself. */
  readonly ownsSession: boolean;
}

export function planOf(
  given: string | readonly string[],
  options: LeaseOptions,
  wait: boolean,
  sessionTtlMs: number,
): AcquirePlan {
  const { ttlMs = sessionTtlMs, progressMs, lockDelayMs = 0 } = options;
  const isEndless = ttlMs === Number.POSITIVE_INFINITY;
  const usualMs = (isEndless ? sessionTtlMs : ttlMs) / 4;
  const { renewEveryMs = usualMs } = options;
  const shownNames = typeof given === "string" ? [given] : [...given];
  if (shownNames.length < 1 || shownNames.length > maxNamesAtOnce) {
    throw invalid(`An acquire names 1 to ${maxNamesAtOnce} leases, not ${shownNames.length}.`);
  }
  const names = shownNames.map(leaseName);
  if (new Set(names).size < names.length) throw invalid(`A lease is named twice: ${shownNames.join(", ")}.`);
  if (!isSessionTtl(ttlMs)) {
    throw invalid(`ttlMs is ${ttlMs}; it has to be an integer from 1 to ${maxSessionTtlMs} ms, or Infinity.`);
  }
  if (progressMs !== undefined) requireNumber("progressMs", progressMs, 1, maxSessionTtlMs);
  requireRenewDeadline(options);
  const isManual = renewEveryMs === Number.POSITIVE_INFINITY;
  if (isEndless && (isManual || progressMs !== undefined || options.renewDeadlineMs !== undefined)) {
    throw invalid(
      "With ttlMs Infinity no silence ends the lease: progressMs, renewDeadlineMs and renewals by hand contradict that.",
    );
  }
  if (!isManual) requireNumber("renewEveryMs", renewEveryMs, 1, 0.9 * (isEndless ? maxSessionTtlMs : ttlMs));
  return {
    shownNames,
    names,
    command: commandOf(names, options, wait),
    ttlMs,
    renewEveryMs: isManual ? usualMs : renewEveryMs,
    progressMs,
    isManual,
    ownsSession:
      ttlMs !== sessionTtlMs || progressMs !== undefined || lockDelayMs > 0 || renewEveryMs !== usualMs,
  };
}

export function leaseName(name: string): ByteString {
  const bytes = keyBytes(name, "name of the lease");
  if (bytes.length <= maxLeaseNameBytes) return bytes;
  throw new QuorateError(
    "TOO_LARGE",
    `The name of the lease has ${bytes.length} bytes; at most ${maxLeaseNameBytes} are taken.`,
  );
}

function commandOf(
  names: readonly ByteString[],
  options: LeaseOptions,
  wait: boolean,
): AcquirePlan["command"] {
  const {
    holder = "",
    data = new Uint8Array(0),
    priority = 0,
    asksHandover = false,
    preempts = false,
    lockDelayMs = 0,
  } = options;
  const holderBytes = utf8ByteString(holder);
  if (holderBytes === undefined || holderBytes.length > maxHolderBytes) {
    throw invalid(`The holder's name has to be text of at most ${maxHolderBytes} bytes.`);
  }
  if (!Number.isSafeInteger(priority)) throw invalid(`priority is ${priority}; it has to be an integer.`);
  requireNumber("priority", priority, -maxPriority, maxPriority);
  if (!Number.isSafeInteger(lockDelayMs))
    throw invalid(`lockDelayMs is ${lockDelayMs}; it has to be an integer.`);
  requireNumber("lockDelayMs", lockDelayMs, 0, maxLockDelayMs);
  const { bytes, format } = leaseData(data);
  return {
    kind: "acquireLease",
    names,
    wait,
    priority,
    asksHandover,
    holder: holderBytes,
    data: bytes,
    format,
    lockDelayMs,
    ...(preempts ? { preempts } : {}),
    ...candidateOf(options),
  };
}

/** Nothing, where it says nothing of itself. */
function candidateOf({ preference = 0, version = "", zone = "" }: LeaseOptions): {
  readonly candidate?: Candidacy;
} {
  if (!Number.isSafeInteger(preference))
    throw invalid(`preference is ${preference}; it has to be an integer.`);
  requireNumber("preference", preference, 0, maxPreference);
  const candidate = { preference, version: word("version", version), zone: word("zone", zone) };
  return isPlainCandidacy(candidate) ? {} : { candidate };
}

function word(what: string, text: string): ByteString {
  const bytes = utf8ByteString(text);
  if (bytes !== undefined && bytes.length <= maxCandidateWordBytes) return bytes;
  throw invalid(`The ${what} has to be text of at most ${maxCandidateWordBytes} bytes.`);
}

export function leaseData(data: Parameters<typeof encodeValue>[0]): ReturnType<typeof encodeValue> {
  const encoded = encodeValue(data);
  if (encoded.bytes.length <= maxLeaseDataBytes) return encoded;
  throw new QuorateError(
    "TOO_LARGE",
    `The data of the lease has ${encoded.bytes.length} bytes; at most ${maxLeaseDataBytes} are taken.`,
  );
}

/** One that is no number would be a deadline that never comes. */
function requireRenewDeadline({ renewDeadlineMs = Number.POSITIVE_INFINITY }: LeaseOptions): void {
  if (renewDeadlineMs >= 1) return;
  throw invalid(`renewDeadlineMs is ${renewDeadlineMs}; it has to be a number of milliseconds from 1.`);
}

function requireNumber(name: string, value: number, min: number, max: number): void {
  if (value >= min && value <= max) return;
  throw invalid(`${name} is ${value}; it has to be from ${min} to ${max}.`);
}

function invalid(sentence: string): QuorateError {
  return new QuorateError("INVALID_ARGUMENT", sentence);
}
