/**
 * What is explored: the product's own state machine, its leader's accounts of silence, its timers of leases, and its
 * holder. A test puts another one in its place, loaded from sources with a bug.
 */
import * as client from "@quorate/client/internal";
import * as server from "@quorate/kv/internal";
import * as machine from "@quorate/kv/machine";

export interface Subject {
  readonly machine: Pick<
    typeof machine,
    "applyEntry" | "createStore" | "getLease" | "hashState" | "leaseSetOf" | "viewOf"
  >;
  readonly server: Pick<typeof server, "LeaseClock" | "Office">;
  readonly client: Pick<typeof client, "HeldLease" | "allowanceMs">;
}

export const product: Subject = { machine, server, client };
