/** The replicated limits of the store, and the alarm of its quota. */
import { type CommandResult, maxRequestBytes, type StoreLimits } from "@quorate/client/protocol";
import type { Change } from "./change.ts";
import { cutHistory } from "./history.ts";
import type { StoreState } from "./storeState.ts";

/** A quota below what the store holds refuses what would grow it, and deletes nothing. */
export function limitStore({ state }: Change, limits: Partial<StoreLimits>): CommandResult {
  state.limits = { ...state.limits, ...limits };
  cutHistory(state.history, state.limits);
  return { kind: "storeLimited", limits: state.limits };
}

/** A sentence where so little is free that a large write may be refused; undefined where all is well. */
export function quotaAlarm({ bytes, limits }: StoreState): string | undefined {
  const { quotaBytes } = limits;
  if (quotaBytes - bytes >= Math.min(maxRequestBytes, quotaBytes / 10)) return undefined;
  return (
    `The store holds ${bytes} bytes of its quota of ${quotaBytes}: writes that need more are refused. ` +
    "Delete keys, or raise the quota."
  );
}
