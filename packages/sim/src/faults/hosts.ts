/** What is the same for the hosts of every cluster, whatever runs on them: who is there, who leads, standing still. */
import type { FaultyCluster, FaultyHost } from "./faultyCluster.ts";

type Site = Pick<FaultyCluster, "world" | "checks">;

export function hostNamed<Host extends FaultyHost>(hosts: readonly Host[], name: string): Host {
  const found = hosts.find((host) => host.name === name);
  if (found === undefined) throw new Error(`there is no node ${name}`);
  return found;
}

/** The running leader of the newest term, if any. */
export function newestLeader<Host extends FaultyHost>(hosts: readonly Host[]): Host | undefined {
  let newest: Host | undefined;
  let newestTerm = -1;
  for (const host of hosts) {
    const state = host.member?.state;
    if (!host.isUp || state?.role !== "leader" || state.currentTerm <= newestTerm) continue;
    newest = host;
    newestTerm = state.currentTerm;
  }
  return newest;
}

/** `isSuspended`: with its whole machine, whose monotonic clock stands still too. */
export function pauseHost({ world, checks }: Site, host: FaultyHost, isSuspended: boolean): void {
  if (!host.isUp || host.isPaused) return;
  if (host.member?.state?.role === "leader") checks.history.mark("leader paused");
  world.trace.note(host.name, isSuspended ? "suspended" : "paused");
  world.trace.observer?.began("paused", host.name);
  if (isSuspended) host.process?.suspend();
  else host.process?.pause();
}

export function resumeHost({ world }: Site, host: FaultyHost, timersFirst: boolean): void {
  if (!host.isPaused) return;
  world.trace.observer?.ended("paused", host.name);
  world.trace.note(host.name, `resumed, ${timersFirst ? "timers" : "arrivals"} first`);
  host.process?.resume(timersFirst);
}
