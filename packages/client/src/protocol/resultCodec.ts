/**
 * Results of commands as positional arrays, `[kind, ...fields]`, checked field by field (requestCodec.ts).
 */
import type { CommandResult } from "./commands.ts";
import { leaseResultFields, leaseResultFromWire } from "./leaseResultCodec.ts";
import { maxMessageChars } from "./limits.ts";
import { storeResultFields, storeResultFromWire } from "./transactionResultCodec.ts";
import { isBoolean, isInteger, isText, isTuple, wordAt } from "./wireFields.ts";

/** By their numbers on the wire: only ever add at the end. */
const resultKinds = [
  "put",
  "deleted",
  "conflict",
  "sessionOpened",
  "sessionClosed",
  "sessionEnded",
  "alreadyAcknowledged",
  "beyondWindow",
  "malformed",
  "refused",
  "nothing",
  "leaseGranted",
  "leaseQueued",
  "leaseUnavailable",
  "leaseDone",
  "leaseNotHeld",
  "acquireCancelled",
  "staleFence",
  "transacted",
  "quotaExceeded",
  "tooLarge",
  "storeLimited",
  "answersFull",
  "gracePeriod",
] as const;

export function resultToWire(result: CommandResult): unknown[] {
  const kind = resultKinds.indexOf(result.kind);
  switch (result.kind) {
    case "put":
      return [kind, result.revision];
    case "deleted":
      return [kind, result.revision, result.existed];
    case "conflict":
      return [kind, result.modRevision];
    case "sessionOpened":
      return [kind, result.session];
    case "sessionClosed":
      return [kind, result.existed];
    case "malformed":
    case "refused":
      return [kind, result.reason.slice(0, maxMessageChars)];
    case "sessionEnded":
    case "alreadyAcknowledged":
    case "beyondWindow":
    case "answersFull":
    case "nothing":
      return [kind];
    case "transacted":
    case "quotaExceeded":
    case "tooLarge":
    case "storeLimited":
      return [kind, ...storeResultFields(result)];
    default:
      return [kind, ...leaseResultFields(result)];
  }
}

export function resultFromWire(value: unknown): CommandResult | undefined {
  if (!Array.isArray(value)) return undefined;
  const fields: readonly unknown[] = value;
  const kind = wordAt(resultKinds, fields[0]);
  const first = fields[1];
  switch (kind) {
    case undefined:
      return undefined;
    case "put":
      return isTuple(fields, 2) && isInteger(first, 1) ? { kind, revision: first } : undefined;
    case "deleted": {
      const existed = fields[2];
      if (!isTuple(fields, 3) || !isInteger(first, 0) || !isBoolean(existed)) return undefined;
      return { kind, revision: first, existed };
    }
    case "conflict":
      return isTuple(fields, 2) && isInteger(first, 0) ? { kind, modRevision: first } : undefined;
    case "sessionOpened":
      return isTuple(fields, 2) && isInteger(first, 1) ? { kind, session: first } : undefined;
    case "sessionClosed":
      return isTuple(fields, 2) && isBoolean(first) ? { kind, existed: first } : undefined;
    case "malformed":
    case "refused":
      return isTuple(fields, 2) && isText(first, maxMessageChars) ? { kind, reason: first } : undefined;
    case "sessionEnded":
    case "alreadyAcknowledged":
    case "beyondWindow":
    case "answersFull":
    case "nothing":
      return isTuple(fields, 1) ? { kind } : undefined;
    case "transacted":
    case "quotaExceeded":
    case "tooLarge":
    case "storeLimited":
      return storeResultFromWire(kind, fields);
    default:
      return leaseResultFromWire(kind, fields);
  }
}
