/** Every kind of fault in a few words, for `quorate sim --list`. */
import type { FaultKind } from "./fault.ts";

export const faultKinds: Readonly<Record<FaultKind, string>> = {
  partition: "paths between nodes carry nothing: halves, one alone, bridge, ring, chain, one direction",
  lossyPath: "one path loses a share of its frames",
  clog: "nothing comes out of a path, and then all of it",
  swizzleClog: "paths are clogged one after the other and released in another order",
  flapping: "paths are cut and healed again and again",
  clientCut: "a node and its clients lose requests, replies or both",
  crash: "a process is killed or loses power, on request in the middle of a write",
  crashAll: "all processes at once",
  crashAtCall: "a process dies at its nth interaction with the world, so at any await",
  crashAtSnapshot:
    "a process dies at its nth interaction after it began to take, receive or install a snapshot",
  starvation: "a process gets little of its processor, and its events wait",
  changedTimeouts: "the next start has other timeouts",
  clockRate: "a node's clock runs faster or slower",
  clockLeap: "a node's clock leaps forward",
  suspend: "a machine is suspended, and its monotonic clock stands still",
  pause: "a process stands still, and wakes again",
  slowDisk: "writes take long",
  hangingDisk: "writes end only when the time is over",
  fullDisk: "writes fail with ENOSPC until there is space again",
  slowReads: "reads take long",
  foreignDisk: "a start finds the directory of another node, and refuses it",
  olderDisk: "a start finds an older copy of its directory, and is refused",
  diskError: "the next write fails with EIO",
  rot: "some of what was written is gone at the next start",
  rotSnapshot: "the newest snapshot of a node is damaged, and it goes back to the one before",
  transfer: "the leader is asked to hand over: to a node that is there, behind, down, unknown, or itself",
  member:
    "nodes join, leave, are promoted, demoted and replaced, several at once, the leader killed in between",
  wipe: "the next start finds an empty directory",
};
