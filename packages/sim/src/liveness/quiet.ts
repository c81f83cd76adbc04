/**
 * L13 to L15: a core that nobody asks anything is quiet. It probes nobody over and over, sends little more than
 * heartbeats, and nothing is left under way.
 */
import type { RaftState } from "@quorate/raft";
import { type FaultySimulation, runFor } from "../simulation.ts";
import { boundMs, heartbeatMs } from "./bounds.ts";
import type { Core } from "./core.ts";
import { sound } from "./progress.ts";

/** Sessions are kept alive through the log, and nodes outside ask for votes: messages a node and second. */
const otherMessagesPerS = 100;
const maxRejections = 3;

export async function checkQuiet(simulation: FaultySimulation, core: Core, forMs: number): Promise<void> {
  const { history, world } = simulation;
  const before = Traffic.of(simulation, core);
  await runFor(simulation, forMs);
  if (history.violations.length > 0) return;
  checkTraffic(simulation, core, before);
  const withinMs = boundMs(simulation, 1);
  const untilMs = world.timeline.nowMs + withinMs;
  for (const host of sound(simulation, core.hosts)) {
    const left = (): string | undefined =>
      host.member?.state === undefined ? "nothing known of it" : leftOver(host.member.state);
    if (await runFor(simulation, untilMs - world.timeline.nowMs, () => left() === undefined)) continue;
    if (history.violations.length > 0) return;
    history.fail(
      "L15 nothing left pending",
      `${host.name} still has ${left()} after it was asked nothing for ${forMs + withinMs} ms`,
    );
  }
}

/** To one follower: it may need one, and a new leader begins it anew. */
const maxTransfers = 3;

interface Count {
  readonly transfers: number;
  readonly sent: number;
  readonly rejections: number;
}

class Traffic {
  readonly atMs: number;
  readonly of: ReadonlyMap<string, Count>;

  private constructor(atMs: number, of: ReadonlyMap<string, Count>) {
    this.atMs = atMs;
    this.of = of;
  }

  static of(simulation: FaultySimulation, core: Core): Traffic {
    const counts = sound(simulation, core.hosts).map(({ name, member }): [string, Count] => [
      name,
      {
        sent: member?.sent ?? 0,
        rejections: member?.rejections ?? 0,
        transfers: member?.transfers ?? 0,
      },
    ]);
    return new Traffic(simulation.world.timeline.nowMs, new Map(counts));
  }
}

function checkTraffic(simulation: FaultySimulation, core: Core, before: Traffic): void {
  const { cluster, history } = simulation;
  const after = Traffic.of(simulation, core);
  const seconds = (after.atMs - before.atMs) / 1_000;
  const nodes = cluster.hosts.length;
  const bound = (2 * nodes * 1_000) / heartbeatMs(simulation) + otherMessagesPerS * nodes;
  let sent = 0;
  for (const [name, { sent: sentNow, rejections, transfers }] of after.of) {
    const earlier = before.of.get(name) ?? { sent: 0, rejections: 0, transfers: 0 };
    const begun = transfers - earlier.transfers;
    history.require(
      begun <= maxTransfers * (nodes - 1),
      "L13 no probing loop",
      () => `${name} began to send ${begun} snapshots in ${seconds} s in which nobody wrote`,
    );
    sent += sentNow - earlier.sent;
    const more = rejections - earlier.rejections;
    history.require(
      more <= maxRejections,
      "L13 no probing loop",
      () =>
        `${name} rejected ${more} appends in ${seconds} s in which nobody wrote, and more than ${maxRejections} ` +
        "make a loop",
    );
  }
  history.require(
    sent <= bound * seconds,
    "L14 no busy loop",
    () =>
      `the core sends ${Math.round(sent / seconds)} messages a second while nobody asks anything; ${bound} are enough`,
  );
}

/** What is under way in a core, in words; undefined: nothing. */
export function leftOver(state: RaftState): string | undefined {
  const { leading, forwarding, outbox, log, commitIndex, disk } = state;
  const forwarded = forwarding.waiting.length + forwarding.rounds.length;
  if (forwarded > 0) return `${forwarded} reads that it forwarded`;
  if (outbox.sendAfterPersist.length > 0)
    return `${outbox.sendAfterPersist.length} messages that wait for the disk`;
  if (disk.durableIndex !== log.lastIndex)
    return `entries up to ${log.lastIndex}, durable to ${disk.durableIndex}`;
  if (commitIndex !== log.lastIndex) return `entries up to ${log.lastIndex}, committed to ${commitIndex}`;
  if (leading === undefined) return undefined;
  const reads = leading.readsWaiting.length + (leading.readRound?.reads.length ?? 0);
  if (reads > 0) return `${reads} reads that wait for confirmation`;
  return leading.uncommittedBytes > 0
    ? `${leading.uncommittedBytes} bytes counted as uncommitted`
    : undefined;
}
