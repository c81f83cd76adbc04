/**
 * L1 to L4, L7 and L13 to L15 on a core: it finds a leader and keeps it, serves by way of every node, becomes equal,
 * and is quiet afterwards, whatever those outside of it do.
 */
import { type Member, newestConfiguration } from "@quorate/raft";
import type { FaultyHost } from "../faults/faultyCluster.ts";
import type { InvariantName } from "../invariants/history.ts";
import { type FaultySimulation, runFor } from "../simulation.ts";
import { boundMs, timeoutsMs } from "./bounds.ts";
import { type Core, deafLeaders, excuseOf, isDiskBroken, runs } from "./core.ts";
import { areLed, describe, haveConverged, isSettled, odd, serve, sound } from "./progress.ts";
import { checkQuiet } from "./quiet.ts";

const operationsEach = 10;
/** Of a leader, with the heartbeats, answers and writes that come meanwhile. */
const eventsOfAnOperation = 60;
const quietForMs = 1_000;

/** Heals nothing itself: the core has been healed, and what is outside stays as it is. */
export async function checkCore(simulation: FaultySimulation, core: Core): Promise<void> {
  const { history, world } = simulation;
  await checkDeafLeaders(simulation, core);
  if (history.violations.length > 0) return;
  // Connections that healing resets, and a leader that was just cut off, still cost an election.
  await runFor(simulation, timeoutsMs(simulation, 1));
  const leaderWithinMs = boundMs(simulation, 10);
  const isLed = (): boolean => areLed(simulation, sound(simulation, core.hosts));
  if (!(await runFor(simulation, leaderWithinMs, isLed))) {
    stuck(simulation, core, "L1 stable leader", `has no leader that all follow after ${leaderWithinMs} ms`);
    return;
  }
  if (!(await checkSettled(simulation, core))) return;
  // A leader that was removed has gone meanwhile, and a new member may just have heard of the one that is there.
  if (!(await runFor(simulation, leaderWithinMs, isLed))) {
    stuck(
      simulation,
      core,
      "L1 stable leader",
      `has no leader ${leaderWithinMs} ms after its members changed`,
    );
    return;
  }
  const hosts = sound(simulation, core.hosts);
  if (!(await checkCaughtUp(simulation, core))) return;
  const watch = new Watch(simulation, core);
  const answersWithinMs = boundMs(simulation, 20) + starvedMs(core);
  const unserved = await serve(simulation, hosts, operationsEach, world.timeline.nowMs + answersWithinMs);
  if (unserved !== undefined) {
    stuck(simulation, core, "L2 service", `${unserved.sentence} within ${answersWithinMs} ms`);
    return;
  }
  if (!(await checkConvergence(simulation, core, "L3 convergence", 30))) return;
  await checkQuiet(simulation, core, Math.max(quietForMs, watch.leftMs()));
  watch.check();
}

/**
 * A leader outside of the core that is short of processor time, and stays so, leads on: it is heard often enough. All
 * operations go by way of it, reads and writes of each node and its own, some tens of its events each.
 */
function starvedMs({ hosts, outside }: Core): number {
  const eventMs = Math.max(0, ...outside.map(eventMsOf));
  return (2 * hosts.length + 1) * operationsEach * eventsOfAnOperation * eventMs;
}

/** What one of its events takes at least; 0: it has time enough. */
function eventMsOf({ process }: FaultyHost): number {
  return process?.eventMs ?? 0;
}

/** Whoever missed entries is sent them: until then it cannot be asked to answer within a bound. */
async function checkCaughtUp(simulation: FaultySimulation, core: Core): Promise<boolean> {
  const upTo = simulation.cluster.leader()?.member?.state?.log.lastIndex ?? 0;
  const hasAll = ({ member }: FaultyHost): boolean => (member?.state?.commitIndex ?? 0) >= upTo;
  const withinMs = boundMs(simulation, 20);
  const areThere = (): boolean => sound(simulation, core.hosts).every(hasAll);
  if (await unlessStill(simulation, core, withinMs, areThere)) return true;
  stuck(simulation, core, "L3 convergence", `is sent nothing more for ${withinMs} ms, and lacks entries`);
  return false;
}

/** A log of any length may have to be sent, one entry at a time: as long as there is more, that is no standstill. */
async function unlessStill(
  simulation: FaultySimulation,
  core: Core,
  withinMs: number,
  isDone: () => boolean,
): Promise<boolean> {
  const entriesThere = (): number =>
    core.hosts.reduce((sum, { member }) => sum + (member?.state?.log.lastIndex ?? 0), 0);
  let before = -1;
  for (let now = entriesThere(); now > before; now = entriesThere()) {
    before = now;
    if (await runFor(simulation, withinMs, isDone)) return true;
  }
  return false;
}

/** What a change of membership left half done comes to its end: nothing joint, nothing open, nobody left to promote. */
async function checkSettled(simulation: FaultySimulation, core: Core): Promise<boolean> {
  const withinMs = boundMs(simulation, 20);
  if (await unlessStill(simulation, core, withinMs, () => isSettled(simulation, core))) return true;
  stuck(
    simulation,
    core,
    "L10 membership settles",
    `has a change of membership under way ${withinMs} ms after it had a leader (${membershipWords(simulation)})`,
  );
  return false;
}

/** As the leader has it. */
function membershipWords({ cluster }: FaultySimulation): string {
  const state = cluster.leader()?.member?.state;
  if (state === undefined) return "nobody leads";
  const { index, configuration } = newestConfiguration(state.log);
  const { voters, outgoing, learners } = configuration;
  const names = (members: readonly Member[]): string => members.map(({ id }) => id).join(" ");
  const coming = learners.map(
    ({ id, promotes, replaces }) => `${id}${promotes ? ` for ${replaces ?? "none"}` : ""}`,
  );
  return `entry ${index}: voters ${names(voters)}, outgoing ${names(outgoing)}, learners ${coming.join(" ")}`;
}

/** All of the core become equal within so many election timeouts. */
export async function checkConvergence(
  simulation: FaultySimulation,
  core: Core,
  invariant: InvariantName,
  timeouts: number,
): Promise<boolean> {
  const hosts = sound(simulation, core.hosts);
  const withinMs = boundMs(simulation, timeouts);
  if (!(await runFor(simulation, withinMs, () => haveConverged(simulation, hosts)))) {
    stuck(simulation, core, invariant, `is not equal after ${withinMs} ms`);
    return false;
  }
  const other = odd(hosts);
  simulation.history.require(
    other === undefined,
    invariant,
    () => `${other?.name} and ${hosts[0]?.name} have applied the same entries and hold different states`,
  );
  return other === undefined;
}

/** A leader that no quorum can answer is none any more, once it has not been answered for long enough. */
async function checkDeafLeaders(simulation: FaultySimulation, core: Core): Promise<void> {
  const deaf = deafLeaders(simulation, core);
  if (deaf.length === 0) return;
  simulation.history.mark("leader without a quorum outside of the core");
  const withinMs = timeoutsMs(simulation, 2);
  const isOver = await runFor(simulation, withinMs, () =>
    deaf.every((host) => host.member?.state?.role !== "leader"),
  );
  if (isOver || simulation.history.violations.length > 0) return;
  const names = deaf.map(({ name }) => name).join(", ");
  simulation.history.fail(
    "L7 deaf leader steps down",
    `${names} still leads ${withinMs} ms after it lost its quorum for good: ${describe(simulation)}`,
  );
}

/** Says so unless something else was violated, or the core has an excuse. */
export function stuck(
  simulation: FaultySimulation,
  core: Core,
  invariant: InvariantName,
  sentence: string,
): void {
  failUnlessExcused(simulation, core, invariant, `the core ${namesOf(core)} ${sentence}`);
}

export function failUnlessExcused(
  simulation: FaultySimulation,
  core: Core,
  invariant: InvariantName,
  sentence: string,
): void {
  const { history, world } = simulation;
  if (history.violations.length > 0) return;
  const excuse = excuseOf(simulation, core);
  if (excuse === undefined) {
    history.fail(invariant, `${sentence}: ${describe(simulation)}`);
    return;
  }
  history.mark("core without a quorum");
  world.trace.note("##", `${sentence}, and there is an excuse: ${excuse}`);
}

export function namesOf({ hosts }: Core): string {
  return hosts.map(({ name }) => name).join(", ");
}

/**
 * From a leader's first standing on: nobody else may be elected, and no term may run away. One that leads from outside
 * of the core on a disk that stays broken has to go at its first write, and one that stays short of processor time may
 * be heard too seldom: that is one election more, and its successor is to stay. No other has such an excuse, wherever
 * it is.
 */
export class Watch {
  private readonly simulation: FaultySimulation;
  private readonly elections: number;
  private readonly untilMs: number;
  private readonly termsOutside: ReadonlyMap<string, number>;

  constructor(simulation: FaultySimulation, core: Core) {
    this.simulation = simulation;
    const leader = simulation.cluster.leader();
    const mayGo =
      leader !== undefined &&
      core.outside.includes(leader) &&
      (isDiskBroken(simulation, leader) || eventMsOf(leader) > 0);
    this.elections = simulation.history.leaders.size + (mayGo ? 1 : 0);
    this.untilMs = simulation.world.timeline.nowMs + timeoutsMs(simulation, 20);
    const leaderTerm = leader?.member?.state?.currentTerm ?? 0;
    this.termsOutside = new Map(
      core.outside
        .filter((host) => runs(host))
        .map((host) => [host.name, Math.max(host.member?.state?.currentTerm ?? 0, leaderTerm)]),
    );
  }

  leftMs(): number {
    return this.untilMs - this.simulation.world.timeline.nowMs;
  }

  check(): void {
    const { history, cluster } = this.simulation;
    if (history.violations.length > 0) return;
    const more = history.leaders.size - this.elections;
    history.require(
      more <= 0,
      "L1 stable leader",
      () =>
        `${more} more elections were won within ${timeoutsMs(this.simulation, 20)} ms after the core had a leader: ` +
        describe(this.simulation),
    );
    for (const [name, before] of this.termsOutside) {
      const now = cluster.host(name).member?.state?.currentTerm ?? 0;
      history.require(
        now <= before + 2,
        "L4 no election storm",
        () => `${name}, outside of the core, went from term ${before} to ${now}, which is more than 2`,
      );
    }
  }
}
