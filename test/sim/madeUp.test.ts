/** Invariants over made-up messages and states, where no core could be brought to break them by itself. */
import type { Event, Heartbeat, MemberId, PeerMessage, RaftState } from "@quorate/raft";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { calmCluster, leaderOf, operateFor, verdict } from "./scenarios.ts";

const one = "a.1" as MemberId;
const other = "b.2" as MemberId;

function heartbeat(commitIndex: number): Heartbeat {
  return { kind: "heartbeat", term: 0, session: 4, commitIndex, token: 0 } as unknown as Heartbeat;
}

function sending(prepare: (member: ReturnType<sim.History["of"]>) => void, message: PeerMessage): string {
  const simulation = sim.openSimulation({ seed: 1, nodes: 3, layer: "raft" });
  const { checks } = simulation.cluster;
  const member = checks.history.of(one);
  prepare(member);
  checks
    .transport({ start: () => {}, setPeers: () => {}, send: () => {}, close: async () => {} }, member)
    .send(other, [message]);
  return verdict(simulation);
}

/** A leader that knows of `match` entries of the other one. */
function leading(match: number): RaftState {
  return { leading: { peers: new Map([[other, { session: 4, match }]]) } } as unknown as RaftState;
}

describe("what a member sends", () => {
  it("is nothing of a member's before it was born", () => {
    const born = (member: ReturnType<sim.History["of"]>): void => {
      member.isBorn = true;
    };
    expect(sending(born, heartbeat(0))).toBe("nothing violated");
    expect(sending(() => {}, heartbeat(0))).toMatch(/^identity: a.1 sends a heartbeat/);
  });

  it("tells in a heartbeat of no more than the receiver is known to hold", () => {
    const knows = (member: ReturnType<sim.History["of"]>): void => {
      member.isBorn = true;
      member.state = leading(3);
    };
    expect(sending(knows, heartbeat(3))).toBe("nothing violated");
    expect(sending(knows, heartbeat(4))).toMatch(/^follower commit bound: .* commit 4, but knows 3 entries/);
  });
});

describe("a rejected append", () => {
  it("counts where it is an answer to the leader of now in the session of now, and not where it answers an old copy", () => {
    const rejected = (session: number, leader: MemberId): number => {
      const simulation = sim.openSimulation({ seed: 1, nodes: 3, layer: "raft" });
      const { checks } = simulation.cluster;
      const member = checks.history.of(one);
      member.isBorn = true;
      member.state = { leader, following: { session: 4 } } as unknown as RaftState;
      const message = {
        kind: "appendResponse",
        session,
        result: { kind: "rejected" },
      } as unknown as PeerMessage;
      checks
        .transport({ start: () => {}, setPeers: () => {}, send: () => {}, close: async () => {} }, member)
        .send(other, [message]);
      return member.rejections;
    };
    expect([rejected(4, other), rejected(10, other), rejected(4, one)]).toEqual([1, 0, 0]);
  });
});

describe("what a leader knows of a follower", () => {
  it("never falls within a session", async () => {
    const simulation = await calmCluster(sim, { seed: 2, nodes: 3, layer: "raft" });
    await operateFor(sim, simulation, 200);
    await sim.runFor(simulation, 500);
    const leader = leaderOf(simulation);
    const { member } = leader;
    const state = member?.state;
    const [peer] = state?.leading?.peers.values() ?? [];
    if (member === undefined || state === undefined || peer === undefined) throw new Error("nobody leads");
    const observer = simulation.cluster.checks.observer(leader.name, member);
    const answer = { kind: "received", from: peer.id, message: { kind: "appendResponse", result: {} } };
    observer.stepped?.(state, answer as unknown as Event, 0);
    expect(verdict(simulation)).toBe("nothing violated");
    peer.match = (peer.match - 1) as typeof peer.match;
    observer.stepped?.(state, answer as unknown as Event, 0);
    expect(verdict(simulation)).toMatch(/^index order: .* entries of .* to be equal, and now/);
  });
});
