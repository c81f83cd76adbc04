/** What a node may take for its own removal, by its log alone. */
import { asIndex, type Configuration, type Index, votersOnly } from "@quorate/raft";
import { OwnMembership } from "@quorate/raft/internal";
import { describe, expect, it } from "vitest";
import { member } from "../transport/world.ts";

const [a, b, c] = ["a", "b", "c"].map((name) => ({ id: member(name), address: `ws://${name}:1` }));
const withC = votersOnly([a!, b!, c!]);
const withoutC = votersOnly([a!, b!]);
const jointly: Configuration = { ...withoutC, outgoing: withC.voters };

function followed(birth: Configuration): {
  follow(commitIndex: number, ...configurations: readonly (readonly [number, Configuration])[]): void;
  readonly told: readonly Index[];
  readonly own: OwnMembership;
} {
  const told: Index[] = [];
  const standing = { kind: "born", birth: { clusterId: "0", configuration: birth } } as never;
  const own = new OwnMembership(c!.id, { standing }, (index) => told.push(index));
  return {
    own,
    told,
    follow: (commitIndex, ...configurations) =>
      own.follow({
        commitIndex: asIndex(commitIndex),
        log: {
          configurations: configurations.map(([index, configuration]) => ({
            index: asIndex(index),
            configuration,
          })),
        } as never,
      }),
  };
}

describe("a node that follows its own membership", () => {
  it("knows of its removal when that is committed, not before, and tells it once", () => {
    const { follow, own, told } = followed(withC);
    follow(4, [0, withC]);
    follow(4, [0, withC], [5, jointly]);
    follow(5, [0, withC], [5, jointly], [6, withoutC]);
    expect(own.removedAt).toBeUndefined();
    follow(6, [5, jointly], [6, withoutC]);
    follow(9, [6, withoutC]);
    expect(told).toEqual([6]);
    expect(own.removedAt).toBe(6);
  });

  it("knows of it by a snapshot, when it was a founder", () => {
    const { follow, told } = followed(withC);
    follow(20, [20, withoutC]);
    expect(told).toEqual([20]);
  });

  it("takes a log that does not name it yet for one that is on its way", () => {
    const { follow, own, told } = followed(withoutC);
    follow(3, [0, withoutC]);
    // A leader of an older term had added it, and was overwritten.
    follow(3, [0, withoutC], [4, withC]);
    follow(4, [0, withoutC]);
    follow(8, [0, withoutC], [8, withC]);
    expect([...told, own.removedAt]).toEqual([undefined]);
    follow(9, [8, withC], [9, withoutC]);
    expect(told).toEqual([9]);
  });

  it("is a member again when it was taken in anew, and can be removed anew", () => {
    const { follow, own, told } = followed(withC);
    follow(6, [6, withoutC]);
    follow(7, [6, withoutC], [7, withC]);
    expect(own.removedAt).toBeUndefined();
    follow(8, [7, withC], [8, withoutC]);
    expect(told).toEqual([6, 8]);
  });
});
