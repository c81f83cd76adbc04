/** What a node's log says of its roles, and how often. */
import { asTerm, memberId, type NodeId, type Role } from "@quorate/raft";
import { RoleNotes } from "@quorate/raft/internal";
import { describe, expect, it } from "vitest";

const leader = memberId("a" as NodeId, "00000000000000aa");

describe("the roles of a node", () => {
  it("are told once of all the rounds in which it finds no leader, and again after it had one", () => {
    const told: string[] = [];
    const none = (): void => {};
    const info = (facts: unknown): unknown => told.push(JSON.stringify(facts));
    const notes = new RoleNotes({ debug: none, info, warn: none, error: none } as never);
    const change = (role: Role, term: number, led = false): void =>
      notes.changed({ role, term: asTerm(term), leader: led ? leader : undefined });
    const rounds = (term: number): void => {
      for (let round = 0; round < 100; round += 1) {
        change("preCandidate", term);
        change("follower", term);
      }
    };
    change("follower", 1, true);
    rounds(1);
    expect(told).toHaveLength(3);
    change("follower", 1, true);
    change("follower", 1, true);
    rounds(1);
    expect(told).toHaveLength(7);
    rounds(2);
    expect(told).toHaveLength(9);
  });
});
