/** Faults of the network: paths that are cut, clogged, lossy or flapping. A cut or a clog is silent: nobody is told. */
import { clientsHost } from "../network/network.ts";
import type { FaultOf, NetworkFault, Path } from "./fault.ts";
import type { Site, Strikes } from "./strikes.ts";

export const networkStrikes: Strikes<NetworkFault["kind"]> = {
  partition({ cluster, later }, { cuts, forMs }) {
    const { network, trace } = cluster.world;
    for (const [from, to] of cuts) network.cut(from, to);
    later(forMs, () => {
      trace.note("##", "the partition heals");
      for (const [from, to] of cuts) network.heal(from, to);
    });
  },

  lossyPath({ cluster, later }, { from, to, loss, forMs }) {
    const { paths } = cluster.world;
    paths.setExtraLoss(from, to, loss);
    later(forMs, () => paths.setExtraLoss(from, to, 0));
  },

  clog({ cluster, later }, { from, to, forMs }) {
    const { network } = cluster.world;
    network.clog(from, to);
    later(forMs, () => network.unclog(from, to));
  },

  swizzleClog({ cluster, later }, { stops, releases, forMs }) {
    const { network } = cluster.world;
    for (const [at, [from, to]] of stops.entries()) {
      later((at * forMs) / (2 * stops.length), () => network.clog(from, to));
    }
    for (const [at, [from, to]] of releases.entries()) {
      later(forMs / 2 + ((at + 1) * forMs) / (2 * releases.length), () => network.unclog(from, to));
    }
  },

  flapping(site, fault) {
    flap(site, fault, 0, site.cluster.world.timeline.nowMs + fault.forMs);
  },

  clientCut({ cluster, later }, { node, lost, forMs }) {
    const { network, trace } = cluster.world;
    const cuts: Path[] = [];
    if (lost !== "replies") cuts.push([clientsHost, node]);
    if (lost !== "requests") cuts.push([node, clientsHost]);
    trace.observer?.began("noClients", node);
    for (const [from, to] of cuts) network.cut(from, to);
    later(forMs, () => {
      trace.note("##", `clients reach ${node} again`);
      trace.observer?.ended("noClients", node);
      for (const [from, to] of cuts) network.heal(from, to);
    });
  },
};

/** Cut after an even number of gaps, whole after an odd one, and whole at the end. */
function flap(site: Site, fault: FaultOf<"flapping">, passed: number, untilMs: number): void {
  const { network, timeline } = site.cluster.world;
  const gapMs = fault.gapsMs[passed];
  const isOver = gapMs === undefined || timeline.nowMs >= untilMs;
  const isCut = passed % 2 === 0 && !isOver;
  for (const [from, to] of fault.paths) {
    if (isCut) network.cut(from, to);
    else network.heal(from, to);
  }
  if (isOver) return;
  site.later(Math.min(gapMs, untilMs - timeline.nowMs), () => flap(site, fault, passed + 1, untilMs));
}
