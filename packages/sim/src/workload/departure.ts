/** How a simulated client goes: it closes, or its process ends in the middle of whatever it does. */
import type { Cluster } from "@quorate/client";
import type { SimulatedCluster } from "../cluster/cluster.ts";
import type { SimulatedProcess } from "../world/process.ts";

export interface Departing {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly cluster: Cluster;
}

/** `kind` begins the coverage mark. `isSilent`: the others see no connection close. */
export function depart(
  { world, checks }: SimulatedCluster,
  { name, process, cluster }: Departing,
  kind: "client" | "lease client",
  isPolite: boolean,
  isSilent: boolean,
): void {
  world.trace.note(name, isPolite ? "leaves" : "vanishes");
  checks.history.mark(`${kind} ${isPolite ? "left" : "vanished"}`);
  if (isPolite) {
    void cluster.close();
    return;
  }
  // What it had under way is never told to anybody: unknown.
  process.kill();
  world.network.processEnded(process, isSilent);
}
