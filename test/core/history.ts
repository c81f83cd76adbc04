/**
 * What must be true of every history, checked at the event that establishes it and against all that ever
 * happened, not by comparing present states (two published specifications hold "invariants" that legal states
 * of Raft break).
 */
import {
  cachedEntries,
  type Entry,
  type Index,
  type MemberId,
  type RaftState,
  type Term,
  termAt,
} from "@quorate/raft";
import { type Cluster, type Node, nameOf } from "./cluster.ts";

interface Committed {
  readonly term: Term;
  readonly text: string;
  /** The lowest term in which anybody called it committed. */
  readonly commitTerm: Term;
}

interface Before {
  boot: number;
  term: Term;
  vote: MemberId | undefined;
  role: RaftState["role"];
  commitIndex: Index;
  lastIndex: Index;
  matches: Map<string, number>;
}

export interface History {
  readonly leaders: Map<Term, MemberId>;
  /**
   * (index, term) → the entry and the term of the one before it: by induction, equal here is equal all the
   * way down.
   */
  readonly entries: Map<string, string>;
  readonly votes: Map<string, MemberId>;
  readonly committed: Committed[];
  readonly before: Map<MemberId, Before>;
  readonly readFloors: Map<string, number>;
  /** By node: entries that were checked where they stand. */
  readonly checked: Map<MemberId, WeakSet<Entry>>;
  readonly seen: Set<string>;
}

export function recordHistory(cluster: Cluster): History {
  const history: History = {
    leaders: new Map(),
    entries: new Map(),
    votes: new Map(),
    committed: [],
    before: new Map(),
    readFloors: new Map(),
    checked: new Map(),
    seen: new Set(),
  };
  cluster.observe = (node) => check(cluster, history, node);
  return history;
}

/** Asked millions of times: an assertion that costs nothing when it holds. */
function must(holds: boolean, sentence: string, data: () => unknown = () => ""): asserts holds {
  if (!holds) throw new Error(`${sentence} ${JSON.stringify(data())}`);
}

function check(cluster: Cluster, history: History, node: Node): void {
  const { state } = node;
  const last = history.before.get(node.id);
  const before = last?.boot === state.boot ? last : undefined;
  checkOrder(node, last, before);
  checkLogMatching(history, node);
  checkVote(history, state);
  if (state.role === "leader" && (before?.role !== "leader" || before.term !== state.currentTerm)) {
    checkElection(history, node);
  }
  checkCommit(cluster, history, node, before);
  checkReads(history, node);
  history.before.set(node.id, {
    boot: state.boot,
    term: state.currentTerm,
    vote: state.vote,
    role: state.role,
    commitIndex: state.commitIndex,
    lastIndex: state.log.lastIndex,
    matches: new Map(
      [...(state.leading?.peers ?? [])].map(([id, peer]) => [`${id}/${peer.session}`, peer.match]),
    ),
  });
}

/** Terms, commit index and matches only rise; a leader only appends; indexes keep their order. */
function checkOrder({ state, disk }: Node, last: Before | undefined, before: Before | undefined): void {
  const { log, leading, currentTerm, commitIndex } = state;
  if (last !== undefined && last.boot < state.boot)
    must(currentTerm >= disk.term, "a restart keeps the term");
  must(commitIndex <= log.lastIndex, "commit ≤ last");
  must(state.disk.durableIndex <= log.lastIndex, "durable ≤ last");
  for (const peer of leading?.peers.values() ?? []) {
    must(peer.match < peer.next && peer.next <= log.lastIndex + 1, "match < next ≤ last + 1", () => peer);
    const was = before?.term === currentTerm ? before.matches.get(`${peer.id}/${peer.session}`) : undefined;
    must(peer.match >= (was ?? 0), "match never falls within a session", () => peer);
  }
  must((leading !== undefined) === (state.role === "leader"), "leading belongs to the leader");
  if (before === undefined) return;
  must(currentTerm >= before.term, "the term never falls");
  must(commitIndex >= before.commitIndex, "the commit index never falls");
  const stayed = before.role === "leader" && state.role === "leader" && before.term === currentTerm;
  must(!stayed || log.lastIndex >= before.lastIndex, "a leader only appends");
}

function textOf(entry: Entry): string {
  return `${entry.kind}:${String.fromCharCode(...entry.data)}`;
}

/** If two logs hold an entry with the same index and term, they are equal up to it. */
function checkLogMatching(history: History, { id, state }: Node): void {
  const checked = history.checked.get(id) ?? new WeakSet();
  history.checked.set(id, checked);
  const { tail, head } = state.log;
  for (let at = tail.length - 1; at >= head; at -= 1) {
    const entry = tail[at]!;
    const key = `${entry.index}/${entry.term}`;
    const value = `${termAt(state.log, (entry.index - 1) as Index)}<${textOf(entry)}`;
    const known = history.entries.get(key) ?? value;
    history.entries.set(key, value);
    must(known === value, `log matching at ${key}`, () => ({ known, value }));
    if (checked.has(entry)) return;
    checked.add(entry);
  }
}

/** At most one vote a term, over crashes too. */
function checkVote(history: History, { options, currentTerm, vote, disk }: RaftState): void {
  if (disk.durable.vote === undefined) return;
  const key = `${options.self}/${disk.durable.term}`;
  const known = history.votes.get(key);
  if (known === undefined) history.votes.set(key, disk.durable.vote);
  else must(disk.durable.vote === known, `one vote in term ${disk.durable.term}`, () => known);
  if (currentTerm === disk.durable.term) must(vote === disk.durable.vote, "a vote stands for its term");
}

/** One leader a term; it holds everything that was committed in an older term. */
function checkElection(history: History, { id, state }: Node): void {
  const { currentTerm } = state;
  const known = history.leaders.get(currentTerm);
  must(known === undefined || known === id, `one leader in term ${currentTerm}`, () => [known, id]);
  history.leaders.set(currentTerm, id);
  history.seen.add("election");
  for (const [at, entry] of history.committed.entries()) {
    if (entry.commitTerm >= currentTerm) continue;
    must(termAt(state.log, (at + 1) as Index) === entry.term, `leader of ${currentTerm} has ${at + 1}`);
  }
}

/** Everybody commits the same; a leader only what a quorum holds on disk, and that of its own term. */
function checkCommit(cluster: Cluster, history: History, node: Node, before: Before | undefined): void {
  const { state } = node;
  const { commitIndex, currentTerm, log } = state;
  const was = before?.commitIndex ?? 0;
  if (commitIndex <= was) return;
  for (let index = was + 1; index <= commitIndex; index += 1) {
    const at = index as Index;
    const term = termAt(log, at)!;
    const entry = cachedEntries(state, at, at, 1)?.[0] ?? node.disk.entries[index - 1]!;
    const known = history.committed[index - 1];
    const commitTerm = Math.min(currentTerm, known?.commitTerm ?? currentTerm) as Term;
    if (known !== undefined) {
      must(term === known.term && textOf(entry) === known.text, `all commit the same at ${index}`);
    }
    history.committed[index - 1] = { term, text: textOf(entry), commitTerm };
  }
  if (state.role !== "leader") return;
  const term = termAt(log, commitIndex);
  must(term === currentTerm, "a leader commits by counting in its own term only");
  let holders = 0;
  for (const { disk } of cluster.nodes.values())
    if (disk.entries[commitIndex - 1]?.term === term) holders += 1;
  must(holders > cluster.nodes.size / 2, `${commitIndex} is durable on a quorum`);
}

/** Call it when a read is asked for: nothing that is committed anywhere by then may be missed. */
export function noteRead(history: History, name: string, id: number): void {
  history.readFloors.set(`${name}/${id}`, history.committed.length);
}

function checkReads(history: History, node: Node): void {
  for (const read of node.effects.reads) {
    const key = `${nameOf(node.id)}/${read.id}`;
    const floor = history.readFloors.get(key);
    must(floor !== undefined, `read ${key} is answered once`);
    history.readFloors.delete(key);
    if (read.kind === "refused") continue;
    must(read.index >= floor, `read ${key} sees what was committed`, () => ({ read, floor }));
    history.seen.add(read.asLeader ? "read by leader" : "read by follower");
  }
}
