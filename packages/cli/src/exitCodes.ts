/**
 * What the command's exit codes mean, and which error leads to which. Scripts rely on them: a code never changes its
 * meaning. Errors are recognised by their fields, so that no other package is loaded for it.
 */
import type { ErrorCode, Outcome } from "@quorate/raft";
import { UsageError } from "./usageError.ts";

export const exitCodes: {
  readonly done: 0;
  readonly failed: 1;
  readonly usage: 2;
  readonly unavailable: 3;
  readonly conflict: 4;
  readonly notFound: 5;
  readonly removed: 6;
  readonly storageFault: 70;
  readonly notAcquired: 120;
  readonly leaseLost: 121;
  readonly runnerFailed: 125;
} = {
  done: 0,
  failed: 1,
  usage: 2,
  unavailable: 3,
  conflict: 4,
  notFound: 5,
  removed: 6,
  storageFault: 70,
  notAcquired: 120,
  leaseLost: 121,
  runnerFailed: 125,
};

/** Shown by `--help` and in docs/reference/command.md. */
export const exitCodeMeanings: readonly (readonly [code: number, meaning: string])[] = [
  [exitCodes.done, "done"],
  [exitCodes.failed, "failed, or found something wrong (doctor, sim)"],
  [exitCodes.usage, "wrong usage or unsafe options"],
  [exitCodes.unavailable, "unavailable or timed out; a write's outcome may be unknown"],
  [exitCodes.conflict, "conflict: the condition of a write did not hold"],
  [exitCodes.notFound, "the key does not exist"],
  [exitCodes.removed, "node: it was removed from its cluster"],
  [exitCodes.storageFault, "stopped by a storage fault, or by data of a newer release"],
  [exitCodes.notAcquired, "lock, lease acquire: not acquired, somebody else has it"],
  [
    exitCodes.leaseLost,
    "lock, elect --once, lease acquire: the lease was lost, or was asked for and the command ended for it",
  ],
  [exitCodes.runnerFailed, "lock, elect: quorate itself failed; 126 and 127 as of env"],
];

const exitCodeOfError: Partial<Record<ErrorCode, number>> = {
  ABORTED: exitCodes.unavailable,
  CLOSED: exitCodes.unavailable,
  CONFLICT: exitCodes.conflict,
  CONNECTION_FAILED: exitCodes.unavailable,
  DATA_LOST: exitCodes.storageFault,
  GRACE_PERIOD: exitCodes.unavailable,
  INVALID_ARGUMENT: exitCodes.usage,
  INVALID_OPTIONS: exitCodes.usage,
  NEWER_VERSION: exitCodes.storageFault,
  NOT_LEADER: exitCodes.unavailable,
  OVERLOADED: exitCodes.unavailable,
  REMOVED: exitCodes.removed,
  PROPOSAL_LOST: exitCodes.unavailable,
  STALE_TERM: exitCodes.conflict,
  STORAGE_FAILED: exitCodes.storageFault,
  TRANSFER_FAILED: exitCodes.unavailable,
  TIMED_OUT: exitCodes.unavailable,
  UNAVAILABLE: exitCodes.unavailable,
  UPGRADE_PENDING: exitCodes.unavailable,
};

/** The fields of a `QuorateError`, whichever copy of the class made it. */
export interface ErrorFields {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly outcome: Outcome;
}

export function quorateError(error: unknown): ErrorFields | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!("code" in error && "outcome" in error && "retryable" in error)) return undefined;
  return typeof error.code === "string" ? (error as Error & ErrorFields) : undefined;
}

/** An error that carries the exit code to end with. */
export class CommandFailure extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.name = "CommandFailure";
    this.exitCode = exitCode;
  }
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandFailure) return error.exitCode;
  if (error instanceof UsageError) return exitCodes.usage;
  const fields = quorateError(error);
  return (fields && exitCodeOfError[fields.code]) ?? exitCodes.failed;
}

/** Of a command that runs another one: all failures of its own are one code. */
export function runnerExitCodeOf(error: unknown): number {
  return error instanceof CommandFailure ? error.exitCode : exitCodes.runnerFailed;
}

/** What to look at before a command whose outcome is unknown is given again. */
const looks: Readonly<Record<string, string>> = {
  put:
    "read the key before you try again, or repeat it with --if-revision or --if-absent, which cannot take effect " +
    "twice",
  delete:
    "read the key before you try again, or repeat it with --if-revision, which cannot take effect twice",
  txn: "read its keys before you try again, or have it compare what it changes, so that it cannot take effect twice",
  limits: "quorate limits shows what holds now",
  member:
    "look at quorate member list before you try again, or repeat it with --if-index, which cannot take effect twice",
  node: "quorate member list shows whether this node was taken in; start it again, which asks for nothing twice",
  transfer: "quorate status shows who leads now",
  lease: "quorate lease show and list tell how it stands",
  session: "quorate session list shows who is there still",
};

/** One or two sentences for people. What is unknown is always called unknown. */
export function sentenceOf(error: unknown, command = ""): string {
  const fields = quorateError(error);
  if (fields?.outcome === "unknown") {
    const look = Object.hasOwn(looks, command) ? looks[command] : "look how it stands before you try again";
    return `${fields.message} The outcome is unknown: ${look}.`;
  }
  return error instanceof Error ? error.message : String(error);
}
