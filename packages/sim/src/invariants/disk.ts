/**
 * What a member's disk holds, followed from the outside: log matching over what is written, and what comes back after
 * a crash.
 *
 * A write counts as durable when the log store said so. After a crash the store must give back exactly that, or that
 * and the one write that was under way. Less is lost data; a mute or lost member without damage is a false refusal.
 */
import type { Persist, RestoredState, SnapshotHeader, Standing } from "@quorate/raft";
import type { Damage } from "../faults/faultyCluster.ts";
import { checkVote } from "./elections.ts";
import { type ChainLink, type History, lastLink, linkAt, type MemberHistory } from "./history.ts";
import { isQuorum } from "./quorums.ts";

export function writeStarted(history: History, member: MemberHistory, persist: Persist): void {
  if (member.writing !== undefined) {
    history.fail("persisted before sent", `${member.member} started a write while another was under way`);
  }
  const { truncateFrom } = persist;
  if (truncateFrom !== undefined) checkTruncation(history, member, persist, truncateFrom);
  const kept = truncateFrom === undefined ? member.log.length : Math.min(member.log.length, truncateFrom - 1);
  let before = linkAt(member.log, kept) as ChainLink;
  for (const entry of persist.entries) {
    if (entry.index !== before.index + 1) {
      history.fail("index order", `${member.member} writes entry ${entry.index} after entry ${before.index}`);
      return;
    }
    before = history.saw(before, entry, member.member, "writes its log");
  }
  if (persist.term < member.term) {
    history.fail("terms only rise", `${member.member} writes term ${persist.term} over ${member.term}`);
  }
  member.writing = persist;
}

/**
 * A committed entry is never cut off a disk; it may be rewritten as it was. A copy that was not counted may go: of a
 * member that has not reached the term yet in which the entry was committed, and hears a leader of an earlier one late.
 */
function checkTruncation(history: History, member: MemberHistory, persist: Persist, from: number): void {
  history.mark("conflict truncated");
  if (member.leadsTerm !== -1) {
    history.fail("leader appends only", `${member.member} truncates from ${from} on while it leads`);
  }
  const cut = linkAt(member.log, from);
  const { configuration } = history.configuration ?? {};
  if (cut !== undefined && configuration !== undefined) {
    const { index, term } = cut;
    if (isQuorum(configuration, (id) => history.hasHeld(history.of(id), index, term))) {
      history.mark("Figure 8: an entry that a quorum held was replaced");
    }
  }
  const committed = history.committed[from - 1];
  if (cut === undefined || cut.hash !== committed?.hash || persist.entries[0]?.term === committed.term)
    return;
  if (persist.term < committed.commitTerm) {
    history.mark("an uncounted copy of a committed entry replaced");
    return;
  }
  history.fail(
    "commit agreement",
    `${member.member} truncates the committed entry at ${from} of term ${cut.term}`,
  );
}

/** A snapshot takes the place of the log: of what comes after it only what follows its own last entry stays. */
export function installStarted(history: History, member: MemberHistory, header: SnapshotHeader): void {
  history.require(
    member.writing === undefined && member.installing === undefined,
    "persisted before sent",
    () => `${member.member} installs a snapshot while a write was under way`,
  );
  member.installing = header;
}

export function installDurable(history: History, member: MemberHistory): void {
  const header = member.installing;
  if (header === undefined) return;
  member.installing = undefined;
  const { index, term } = header.boundary;
  const isHeld = linkAt(member.log, index)?.term === term;
  const rest = isHeld ? member.log.slice(index) : [];
  const stands = history.committed.slice(0, index);
  for (const link of stands) history.held(member, link);
  member.log = [...stands, ...rest];
}

export function writeDurable(history: History, member: MemberHistory): void {
  const persist = member.writing;
  if (persist === undefined) return;
  member.writing = undefined;
  applyPersist(history, member, persist);
}

function applyPersist(history: History, member: MemberHistory, persist: Persist): void {
  if (persist.truncateFrom !== undefined) {
    member.log.length = Math.min(member.log.length, persist.truncateFrom - 1);
  }
  for (const entry of persist.entries) {
    const link = history.link(entry.index, entry.term) as ChainLink;
    member.log.push(link);
    history.held(member, link);
  }
  // A vote counts from here on: one that a crash took away while it was being written was never promised.
  checkVote(history, member, persist.term, persist.vote);
  member.term = persist.term;
  member.vote = persist.vote;
  member.floor = persist.floor;
}

/** `damage`: the simulation itself took durable data away, so less may come back, and the store must notice. */
export function reopened(history: History, member: MemberHistory, standing: Standing, damage: Damage): void {
  const isDamaged = damage !== "none";
  const { writing, installing } = member;
  member.writing = undefined;
  member.installing = undefined;
  const isNew = member.term === 0 && member.log.length === 0;
  if (standing.kind !== "born") {
    if (isNew || isDamaged) {
      if (standing.kind === "lost") history.mark("membership record lost");
      return;
    }
    history.fail(
      "no false refusal",
      `${member.member} was a member with ${member.log.length} entries; it opened as ${standing.kind}`,
    );
    return;
  }
  const { restored } = standing;
  if (restored.floor !== undefined && member.floor === undefined && writing?.floor === undefined) {
    history.mark("data loss detected");
    history.require(
      isDamaged,
      "no false refusal",
      () => `${member.member} came back mute, though nothing was lost`,
    );
  }
  // Of a damaged directory it cannot be said whether the write that was under way had come through.
  if (!matches(member, restored) && writing !== undefined && !isDamaged) {
    applyPersist(history, member, writing);
    history.mark("write in flight survived the crash");
  } else if (writing !== undefined) history.mark("write in flight was lost");
  if (installing !== undefined) {
    const survived = !matches(member, restored) && !isDamaged;
    if (survived) {
      member.installing = installing;
      installDurable(history, member);
    }
    history.mark(survived ? "snapshot installed by a crash" : "snapshot not installed, by a crash");
  }
  if (restored.snapshot !== undefined) history.mark("started from a snapshot");
  const newest = member.newestSnapshot;
  member.newestSnapshot = restored.snapshot?.boundary.index ?? 0;
  if (member.newestSnapshot < newest && !isDamaged) history.mark("fell back to the snapshot before");
  if (!isDamaged) {
    history.require(
      matches(member, restored),
      "durability",
      () => `${member.member} had ${described(member)}, and opened with ${describedRestored(restored)}`,
    );
  }
  if (damage !== "rolledBack") checkPromises(history, member, restored);
  takeOver(history, member, restored);
}

function matches(member: MemberHistory, restored: RestoredState): boolean {
  const last = lastLink(member.log);
  return (
    restored.term === member.term &&
    restored.vote === member.vote &&
    restored.lastIndex === last.index &&
    lastTermOf(restored) === last.term
  );
}

function lastTermOf({ termRuns, boundary }: RestoredState): number {
  return termRuns.at(-1)?.term ?? boundary.term;
}

/** What a snapshot stands for is committed; the machine has yet to be restored from it. */
export function beginsAt(member: MemberHistory, snapshot: SnapshotHeader | undefined): void {
  member.seenCommit = snapshot?.boundary.index ?? 0;
  member.appliedIndex = 0;
  member.restoring = snapshot;
  member.hasOlderSnapshot = false;
}

/** A member was born, or told again what it had lost the record of: its log is what `bear` gave back. */
export function born(history: History, member: MemberHistory, restored: RestoredState): void {
  member.isBorn = true;
  beginsAt(member, restored.snapshot);
  checkPromises(history, member, restored);
  takeOver(history, member, restored);
}

/** Of an older copy of a directory this cannot be asked: its peers are to refuse it for that. */
function checkPromises(history: History, member: MemberHistory, restored: RestoredState): void {
  if (restored.term < member.maxTermSent) {
    history.fail(
      "terms only rise",
      `${member.member} restarts in term ${restored.term}, though it had spoken in term ${member.maxTermSent}`,
    );
  }
  checkVote(history, member, restored.term, restored.vote);
}

/** From here on what the store gave back is what the member has. */
function takeOver(history: History, member: MemberHistory, restored: RestoredState): void {
  member.term = restored.term;
  member.vote = restored.vote;
  member.floor = restored.floor;
  if (matches(member, restored)) return;
  member.log = history.committed.slice(0, restored.boundary.index);
  for (const [at, run] of restored.termRuns.entries()) {
    const end = restored.termRuns[at + 1]?.firstIndex ?? restored.lastIndex + 1;
    for (let index: number = run.firstIndex; index < end; index += 1) {
      const link = history.link(index, run.term);
      if (link === undefined) {
        history.fail(
          "log matching",
          `${member.member} opened with an entry ${index} of term ${run.term} that nobody wrote`,
        );
        return;
      }
      member.log.push(link);
      history.held(member, link);
    }
  }
}

function described(member: MemberHistory): string {
  const last = lastLink(member.log);
  return `term ${member.term}, vote ${member.vote}, last entry ${last.index} of term ${last.term}`;
}

function describedRestored(restored: RestoredState): string {
  const lastTerm = lastTermOf(restored);
  return `term ${restored.term}, vote ${restored.vote}, last entry ${restored.lastIndex} of term ${lastTerm}`;
}
