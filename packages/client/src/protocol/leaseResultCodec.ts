/** Results of commands about leases as positional arrays, `[kind, ...fields]` (resultCodec.ts). */
import type { LeaseResult } from "./leaseCommands.ts";
import { maxHolderBytes, maxNamesAtOnce } from "./limits.ts";
import { unreachable } from "./unreachable.ts";
import { isByteText, isInteger, isTuple } from "./wireFields.ts";

/** The fields after the kind. */
export function leaseResultFields(result: LeaseResult): unknown[] {
  switch (result.kind) {
    case "leaseGranted":
    case "leaseDone":
    case "leaseNotHeld":
    case "staleFence":
      return [result.term];
    case "leaseQueued":
      return [result.ahead];
    case "gracePeriod":
      return [result.forMs];
    case "leaseUnavailable":
      return [result.at, result.term, result.holder];
    case "acquireCancelled":
      return [];
    default:
      return unreachable(result);
  }
}

export function leaseResultFromWire(
  kind: LeaseResult["kind"],
  fields: readonly unknown[],
): LeaseResult | undefined {
  const first = fields[1];
  switch (kind) {
    case "leaseGranted":
    case "leaseDone":
      return isTuple(fields, 2) && isInteger(first, 1) ? { kind, term: first } : undefined;
    case "leaseNotHeld":
    case "staleFence":
      return isTuple(fields, 2) && isInteger(first, 0) ? { kind, term: first } : undefined;
    case "leaseQueued":
      return isTuple(fields, 2) && isInteger(first, 0) ? { kind, ahead: first } : undefined;
    case "leaseUnavailable": {
      const [, at, term, holder] = fields;
      if (!isTuple(fields, 4) || !isInteger(at, 0, maxNamesAtOnce - 1) || !isInteger(term, 0))
        return undefined;
      return isByteText(holder, maxHolderBytes) ? { kind, at, term, holder } : undefined;
    }
    case "gracePeriod":
      return isTuple(fields, 2) && isInteger(first, 0) ? { kind, forMs: first } : undefined;
    case "acquireCancelled":
      return isTuple(fields, 1) ? { kind } : undefined;
    default:
      return unreachable(kind);
  }
}
