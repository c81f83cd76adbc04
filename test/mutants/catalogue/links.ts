/** Bugs of the links between members: who may speak, and what is taken from the wire. */
import { inFile, type Mutant, unsearched } from "../mutant.ts";

const registry = inFile("test/node/peerRegistry.test.ts");

export const links: readonly Mutant[] = [
  {
    name: "a wiped directory speaks for the member that it was",
    source: "openraft's wipe, redisraft#2, nexus#3939",
    file: "packages/raft/src/node/peerRegistry.ts",
    find: '    return refuse(\n      "otherIncarnation",',
    replace:
      '    if (known.id !== peer.member) return undefined;\n    return refuse(\n      "otherIncarnation",',
    killedBy: registry("that was wiped is refused with a sentence"),
    search: unsearched(
      "no seed looks at who is linked: an incarnation that is no member counts for nothing anyway",
    ),
  },
  {
    name: "a member of an older release is spoken with after the version was raised",
    source: "etcd's cluster version; coordination, §1",
    file: "packages/raft/src/node/peerRegistry.ts",
    find: "?? this.#judgeMachine(peer, name);",
    replace: "?? (name === undefined ? this.#judgeMachine(peer, name) : undefined);",
    killedBy: registry("of an older release is refused once entries are of a version that it does not know"),
    search: unsearched("the simulator's random runs know one release"),
  },
  {
    name: "an older copy of a directory speaks again",
    source: "etcd#13509 and its family",
    file: "packages/raft/src/node/peerRegistry.ts",
    find: "return this.#judgeCluster(peer, name) ?? this.#judgeAge(peer, name) ?? this",
    replace: "return this.#judgeCluster(peer, name) ?? this",
    killedBy: registry("with an older boot is refused with a sentence"),
    search: {
      kind: "seeds",
      layer: "raft",
      nodes: 3,
      durationMs: 6_000,
      profile: "disks",
      as: ["one vote per term", "commit agreement", "leader completeness", "durability", "index order"],
    },
  },
  {
    name: "members of two clusters speak to each other",
    source: "testing.md, S21",
    file: "packages/raft/src/node/peerRegistry.ts",
    find: "if (peer.clusterId === clusterId) return undefined;",
    replace: "return undefined;",
    killedBy: registry("of another cluster is refused with a sentence"),
    search: unsearched("a simulation has one cluster"),
  },
  {
    name: "whoever looks for another node is let in",
    source: "an address that moved to another node",
    file: "packages/transport/src/links/incomingLinks.ts",
    find: "    if (hello.to !== self) {",
    replace: "    if (hello.to === undefined) {",
    killedBy: inFile("test/transport/linkRefusals.test.ts")(
      "is what someone who looks for another node gets.",
    ),
    search: unsearched("simulated nodes keep their addresses"),
  },
  {
    name: "a frame's checksum is not looked at",
    source: "Stone and Partridge, SIGCOMM 2000",
    file: "packages/transport/src/websocket/sealedFrame.ts",
    find: "return crc32(frame) === sealed.readUInt32BE(0) ? frame : undefined;",
    replace: "return frame;",
    killedBy: inFile("test/transport/damagedFrames.test.ts")(
      "ends its connection, and those before it arrive; wherever the bit flipped.",
    ),
    search: unsearched("frames are sealed below the simulated network"),
  },
];
