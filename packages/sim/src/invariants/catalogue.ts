/** What a simulation looks for, in words: the invariants, and the marks that a long enough range of seeds must reach. */
import type { ProfileName } from "../faults/namedProfiles.ts";
import type { Layer } from "../layer.ts";
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
  "complete watches":
    "a watch tells each write to its keys once, in order, none left out; or says what was cut away",
  "replica equality": "healed nodes end with equal logs and equal states",
  "lease exclusion":
    "no two clients believe in one lease at once, and none ends while its holder may (clocks within the bound, no force)",
  "lease terms rise": "each grant of a lease has a higher term than all before it",
  "lease deadline": "nobody believes in a lease for more than its time to live after it last sent anything",
  fencing: "a write under a lease's term is taken exactly as long as that term is in force",
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
  "L13 no probing loop":
    "while nobody writes, no follower rejects append after append, or is sent snapshot after snapshot",
  "L14 no busy loop": "while nobody asks anything there is little more than heartbeats, and time moves on",
  "L15 nothing left pending": "when nobody asks any more, no read, proposal or append stays under way",
  "L16 restart of all": "all killed at once, the core serves again within 20 election timeouts, by itself",
  "L17 leases pass on":
    "a core passes the lease of a client that died to who waits, within its time to live, and takes none from the living",
  liveness: "after all is healed there is a leader in time, and reads and writes go through",
  determinism: "nothing asks for real time or real chance",
  "machine invariant": "of a machine of yours: what you say of it holds after every command",
  linearizability: "what clients were told has one legal order, by the checker (of the store: on samples)",
};

export const livenessNames: readonly LivenessName[] = Object.keys(invariants).filter(
  (name): name is LivenessName => /^L\d/.test(name),
);

/** Those that the profile `swarm` on five whole nodes reaches within 100 seeds. */
const swarmMarks: readonly string[] = [
  "acquire cancelled",
  "acquire queued",
  "acquire refused: not free",
  "another node's directory refused",
  "candidacy came to nothing",
  "candidate fell back",
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
  "fault rotSnapshot",
  "fault slowDisk",
  "fault slowReads",
  "fault starvation",
  "fault suspend",
  "fault swizzleClog",
  "fault transfer",
  "fault wipe",
  "fell back to the snapshot before",
  "fenced write refused",
  "fenced write taken",
  "Figure 8: an older entry on a quorum",
  "follower of the core restarted",
  "leader crashed",
  "leader deposed before it committed",
  "leader deposed by a higher term",
  "leader deposed by check-quorum",
  "leader elected",
  "leader paused",
  "leadership transferred",
  "lease asked for by another",
  "lease claimed",
  "lease client cut off: both",
  "lease client cut off: replies",
  "lease client cut off: requests",
  "lease client left",
  "lease client paused",
  "lease client suspended",
  "lease client vanished",
  "lease delayed after an unclean loss",
  "lease ended before it was claimed",
  "lease ending",
  "lease granted at once",
  "lease lost: released",
  "lease lost: revoked",
  "lease lost: suspended",
  "lease lost: unreachable",
  "lease passed on by a break",
  "lease passed on by a release",
  "lease passed on by a session that was closed",
  "lease passed on by a timer of the leader",
  "lease passed on by an expiry",
  "lease timer endDelay",
  "lease timer finish",
  "lease timer passOn",
  "lease timer revoke",
  "log compacted",
  "machine restored from a snapshot",
  "membership record lost",
  "older entry committed indirectly",
  "pre-vote",
  "pre-vote lost",
  "rejection taken by a leader",
  "renewal logged, over a silence mark",
  "repetition answered from the session",
  "running outside of the core",
  "sessions expired",
  "silence of a session logged",
  "snapshot ignored: the log has it",
  "snapshot installed",
  "snapshot not needed after all",
  "snapshot sent",
  "snapshot taken",
  "snapshot transfer aborted",
  "snapshot transfer begun",
  "split vote",
  "stale leader answered with a higher term",
  "started from a snapshot",
  "transfer came to nothing",
  "vote refused to a shorter log",
  "vote refused to keep a leader",
  "vote refused: given to another",
  "write in flight survived the crash",
  "write in flight was lost",
];

/** Those that the profile `churn` on five whole nodes reaches within 100 seeds. */
const churnMarks: readonly string[] = [];

/** Seeds from which on a range must have reached every required mark. */
export const seedsForMarks = 300;

/** By profile; those that are not here require nothing. */
export const requiredMarks: Readonly<Partial<Record<ProfileName, readonly string[]>>> = {
  swarm: swarmMarks,
  churn: churnMarks,
};

export interface SeedRange {
  readonly seeds: number;
  readonly profile: ProfileName;
  readonly layer: Layer;
  readonly nodes: number;
}

/** What a range of seeds must have reached: nothing, where it is short, or of bare cores or of few nodes. */
export function marksRequiredOf({ seeds, profile, layer, nodes }: SeedRange): readonly string[] {
  const isWhole = layer === "store" && nodes >= 5;
  return seeds >= seedsForMarks && isWhole ? (requiredMarks[profile] ?? []) : [];
}
