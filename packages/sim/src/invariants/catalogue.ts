/**
 * What a simulation looks for, in words: the invariants, the marks that a long enough range of seeds must reach, and
 * what cannot be looked for yet because the feature does not exist.
 */
import type { InvariantName, LivenessName } from "./history.ts";

export const invariants: Readonly<Record<InvariantName, string>> = {
  "election safety": "a term has one leader, in all of history",
  "one vote per term": "a member votes for one candidate a term, across crashes",
  "persisted before sent": "nothing is said that the disk does not hold",
  "terms only rise": "a member's term never falls, across crashes",
  "commit index only rises": "within a start, and never beyond the log",
  "leader appends only": "a leader's log only grows while it leads",
  "log matching": "the same index and term means the same log up to there",
  "commit rule": "a leader commits entries of its own term that a majority holds durably",
  membership:
    "changes are made one at a time, from overlapping quorum to overlapping quorum; who leads was elected by voters, is one",
  "commit agreement": "no two members report different entries committed at one index",
  "leader completeness": "a new leader holds every entry committed in an earlier term",
  "state machine safety": "every member applies the same commands in order, with the same results",
  "index order": "applied ≤ committed ≤ last, and a leader's view of its followers is in order",
  "follower commit bound": "a follower commits only what this leader's append has verified",
  "linearizable reads": "a read sees all that was acknowledged or committed before it was asked",
  "mute members are silent": "who has lost data neither votes nor counts",
  identity: "who is not born says nothing of a member's, and no node speaks from the directory of another",
  durability: "what was acknowledged is there at the end",
  "exactly once": "no write takes effect twice, or after its client was told that it had not",
  "replica equality": "healed nodes end with equal logs and equal states",
  "snapshot equivalence":
    "a snapshot stands for committed entries, and who is restored from it is as all were after them",
  "no false refusal": "a node whose data nobody touched comes back as a voter",
  "no unexpected stop": "no node stops by itself without a fault that explains it",
  "L1 stable leader": "a healed core has a leader within 10 election timeouts and keeps it for 20",
  "L2 service": "reads and writes go through by way of every node of the core within 20 election timeouts",
  "L3 convergence": "the core is equal, logs and states, within 30 election timeouts",
  "L4 no election storm": "who stays cut off in one direction deposes nobody, and its term does not run away",
  "L7 deaf leader steps down": "a leader that no quorum can answer gives up within 2 election timeouts",
  "L10 membership settles":
    "a joint configuration is left and new members are promoted within 20 election timeouts",
  "L11 quiet catch-up": "a follower that was down catches up within 20 election timeouts with no new write",
  "L13 no probing loop": "while nobody writes, no follower rejects append after append",
  "L14 no busy loop": "while nobody asks anything there is little more than heartbeats, and time moves on",
  "L15 nothing left pending": "when nobody asks any more, no read, proposal or append stays under way",
  "L16 restart of all": "all killed at once, the core serves again within 20 election timeouts, by itself",
  liveness: "after all is healed there is a leader in time, and reads and writes go through",
  determinism: "nothing asks for real time or real chance",
  "machine invariant": "of a machine of yours: what you say of it holds after every command",
  linearizability: "what clients were told has one legal order, by the checker (of the store: on samples)",
};

export const livenessNames: readonly LivenessName[] = Object.keys(invariants).filter(
  (name): name is LivenessName => /^L\d/.test(name),
);

/** Those that the profile `swarm` on five whole nodes reaches within 100 seeds. */
export const requiredMarks: readonly string[] = [
  "candidacy came to nothing",
  "candidate fell back",
  "another node's directory refused",
  "client left",
  "client vanished",
  "commit learnt from a heartbeat",
  "committed before the leader's own disk",
  "conditional write refused",
  "conflict truncated",
  "core of all nodes",
  "core restarted at once",
  "crash with a write in flight",
  "data loss detected",
  "election lost",
  "fast failover",
  "fault changedTimeouts",
  "fault clientCut",
  "fault clockLeap",
  "fault clockRate",
  "fault clog",
  "fault crash",
  "fault crashAll",
  "fault crashAtCall",
  "fault diskError",
  "fault flapping",
  "fault foreignDisk",
  "fault fullDisk",
  "fault hangingDisk",
  "fault lossyPath",
  "fault partition",
  "fault pause",
  "fault rot",
  "fault slowDisk",
  "fault slowReads",
  "fault starvation",
  "fault suspend",
  "fault swizzleClog",
  "fault transfer",
  "fault wipe",
  "Figure 8: an older entry on a quorum",
  "follower of the core restarted",
  "leader crashed",
  "leader deposed before it committed",
  "leader deposed by a higher term",
  "leader deposed by check-quorum",
  "leader elected",
  "leader paused",
  "leadership transferred",
  "membership record lost",
  "older entry committed indirectly",
  "pre-vote",
  "pre-vote lost",
  "rejection taken by a leader",
  "repetition answered from the session",
  "running outside of the core",
  "split vote",
  "stale leader answered with a higher term",
  "transfer came to nothing",
  "vote refused to a shorter log",
  "vote refused to keep a leader",
  "vote refused: given to another",
  "write in flight survived the crash",
  "write in flight was lost",
];

/** Seeds from which on a range must have reached every required mark. */
export const seedsForMarks = 300;

/** They come with their features. */
export const notYet: readonly string[] = [
  "snapshots: equivalence after a restore, a snapshot that arrives late, transfer under loss",
  "leases: mutual exclusion, expiry that is never early, clocks of different rate",
];
