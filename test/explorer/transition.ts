/**
 * What one event does to one node: the real core is stepped on a copy, its effects are carried out as far as they
 * are the node's own, and what a node alone can break is checked.
 *
 * What takes more than one node to see (one leader a term, agreement) is in `globalChecks.ts`.
 */
import {
  type Effects,
  type Entry,
  type Envelope,
  type Event,
  type MemberId,
  type Message,
  type Persist,
  type RaftState,
  votersOnly,
} from "@quorate/raft";
import {
  type CommittedEntry,
  type Core,
  copyCore,
  coreOptions,
  entryText,
  type LocalState,
  type Memory,
  normalise,
  type StoredState,
  startMs,
} from "./localState.ts";

export class Violation extends Error {}

/** Throws unless `holds`: asked at every transition, so the sentence is all that it costs. */
export function must(holds: boolean, sentence: string): asserts holds {
  if (!holds) throw new Violation(sentence);
}

export interface Outcome {
  readonly next: LocalState;
  readonly sent: readonly Envelope[];
  /** The commit index rose, as a leader's or as told by one. */
  readonly committedAs: "leader" | "follower" | undefined;
  readonly becameLeader: boolean;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Turn {
  readonly core: Core;
  readonly node: Mutable<LocalState>;
  readonly sent: Envelope[];
}

export function restoreCore(
  core: Core,
  self: MemberId,
  voters: readonly MemberId[],
  stored: StoredState,
): RaftState {
  const { entries, term, vote, floor } = stored;
  const termRuns = entries.flatMap(({ term: entryTerm, index }, at) =>
    entries[at - 1]?.term === entryTerm ? [] : [{ firstIndex: index, term: entryTerm }],
  );
  const configuration = votersOnly(voters.map((id) => ({ id, address: "ws://node:1" })));
  const zero = 0 as Entry["index"];
  return core.createState(
    { ...coreOptions, self },
    {
      term,
      vote,
      floor,
      boundary: { index: zero, term: 0 as Entry["term"] },
      snapshot: undefined,
      lastIndex: entries.length as Entry["index"],
      termRuns,
      configurations: [{ index: zero, configuration }],
      boot: 1,
    },
    startMs,
  );
}

/** Steps a copy of `before` and does what its effects ask of its own disk and state machine. */
export function transition(core: Core, before: LocalState, event: Event, nowMs: number): Outcome {
  const turn: Turn = { core, node: { ...before, core: copyCore(before.core) }, sent: [] };
  if (event.kind === "persisted") finishWrite(turn.node);
  take(turn, event, nowMs);
  return finish(turn, before, event);
}

/** The process died with all that was not written, and starts again. */
export function restarted(core: Core, before: LocalState, voters: readonly MemberId[]): Outcome {
  const { stored } = before;
  const state = restoreCore(core, before.core.options.self, voters, stored);
  const turn: Turn = { core, node: { ...before, core: state, writing: undefined }, sent: [] };
  carryOut(turn, core.takeEffects(state), startMs);
  return finish(turn, undefined, undefined, before);
}

function take(turn: Turn, event: Event, nowMs: number): void {
  turn.core.step(turn.node.core, event, nowMs);
  carryOut(turn, turn.core.takeEffects(turn.node.core), nowMs);
}

function carryOut(turn: Turn, effects: Effects, nowMs: number): void {
  const { node } = turn;
  for (const envelope of effects.send) {
    checkBacked(node, envelope.message, envelope.to);
    turn.sent.push(envelope);
  }
  if (effects.persist !== undefined) {
    must(node.writing === undefined, "one write at a time");
    node.writing = effects.persist;
  }
  const upTo = effects.commitIndex;
  if (upTo > node.core.appliedIndex) take(turn, { kind: "applied", upTo }, nowMs);
  for (const load of effects.loads) {
    take(turn, { kind: "loaded", load, entries: node.stored.entries.slice(load.from - 1, load.to) }, nowMs);
  }
}

function finishWrite(node: Mutable<LocalState>): void {
  const { writing } = node;
  if (writing === undefined) throw new Error("no write is under way");
  node.stored = written(node.stored, writing);
  node.writing = undefined;
  const { term, vote } = node.stored;
  if (vote !== undefined) node.memory = withVote(node.memory, term, vote);
  else must(node.memory.votes[term] === undefined, `S2: the vote of term ${term} is not taken back`);
}

function written(stored: StoredState, write: Persist): StoredState {
  const { term, vote, floor } = write;
  must(term >= stored.term, "S4: the term on disk never falls");
  const kept = stored.entries.slice(0, (write.truncateFrom ?? stored.entries.length + 1) - 1);
  for (const entry of write.entries) {
    must(entry.index === kept.length + 1, "a write leaves no gap");
    kept.push(entry);
  }
  return { term, vote, floor, entries: kept };
}

function withVote(memory: Memory, term: number, vote: MemberId): Memory {
  const known = memory.votes[term];
  must(known === undefined || known === vote, `S2: one vote in term ${term}`);
  return known === undefined ? { ...memory, votes: { ...memory.votes, [term]: vote } } : memory;
}

/** S3: what a message promises is on the sender's disk before it leaves. */
function checkBacked(node: Mutable<LocalState>, message: Message, to: MemberId): void {
  const { stored } = node;
  if (message.kind === "preVoteRequest" || (message.kind === "preVoteResponse" && message.granted)) return;
  if (message.kind === "voteRequest") {
    const last = stored.entries[message.lastIndex - 1];
    must(
      message.lastIndex === 0 || last?.term === message.lastTerm,
      "S3: a request for votes with a log that is not durable",
    );
    const known = node.memory.votes[message.term];
    must(known === undefined || known === node.core.options.self, `S2: one vote in term ${message.term}`);
    return;
  }
  must(stored.term >= message.term, `S3: ${message.kind} of term ${message.term} before it is durable`);
  if (message.kind === "voteResponse" && message.granted) {
    must(stored.term > message.term || stored.vote === to, "S3: a vote before it is durable");
    node.memory = withVote(node.memory, message.term, to);
  }
  if (message.kind === "appendResponse" && message.result.kind === "matched") {
    const { matchIndex } = message.result;
    must(stored.entries.length >= matchIndex, "S3: an ack before its entries are durable");
    const held = textAt(node.core, stored, matchIndex);
    must(
      matchIndex === 0 || entryText(stored.entries[matchIndex - 1]!) === held,
      "S3: an ack of other entries",
    );
  }
}

/** Entries after a restart are not in memory, but on disk. */
function textAt(state: RaftState, stored: StoredState, index: number): string | undefined {
  const { tail, head, lastIndex } = state.log;
  const at = index - (lastIndex + 1 - (tail.length - head)) + head;
  const entry = at >= head ? tail[at] : stored.entries[index - 1];
  return entry === undefined ? undefined : entryText(entry);
}

export function logTexts({ core, stored }: LocalState): readonly string[] {
  const texts: string[] = [];
  for (let index = 1; index <= core.log.lastIndex; index += 1) texts.push(textAt(core, stored, index) ?? "?");
  return texts;
}

function finish(turn: Turn, before: LocalState | undefined, event?: Event, dead?: LocalState): Outcome {
  const { node } = turn;
  const state = node.core;
  const was = before?.core;
  must(state.currentTerm >= (was?.currentTerm ?? dead?.stored.term ?? 0), "S4: the term never falls");
  must(state.commitIndex <= state.log.lastIndex, "S5: commit ≤ last");
  must(was === undefined || state.commitIndex >= was.commitIndex, "S5: the commit index never falls");
  const becameLeader =
    state.role === "leader" && (was?.role !== "leader" || was.currentTerm !== state.currentTerm);
  if (before !== undefined) checkLog(before, node);
  if (was !== undefined && event?.kind === "received") checkTold(was, state, event.message);
  if (becameLeader) {
    node.memory = { ...node.memory, ledTerms: [...new Set([...node.memory.ledTerms, state.currentTerm])] };
  }
  const rose = state.commitIndex > (was?.commitIndex ?? 0);
  if (rose) node.memory = withCommitted(node);
  normalise(state);
  const committedAs = rose ? (state.role === "leader" ? "leader" : "follower") : undefined;
  return { next: node, sent: turn.sent, committedAs, becameLeader };
}

/** S6, S9: a leader only appends, and nobody cuts what it knows to be committed. */
function checkLog(before: LocalState, after: LocalState): void {
  const old = logTexts(before);
  const now = logTexts(after);
  const led = before.core.role === "leader" && after.core.currentTerm === before.core.currentTerm;
  const stays = led ? old.length : before.core.commitIndex;
  for (let at = 0; at < stays; at += 1) {
    must(now[at] === old[at], "S6, S9: a leader only appends, and what is committed stays");
  }
}

/** S13: a follower commits no more than the message says and itself verifies. */
function checkTold(was: RaftState, state: RaftState, message: Message): void {
  if (state.commitIndex === was.commitIndex) return;
  if (message.kind === "appendRequest") {
    const verified = message.prevIndex + message.entries.length;
    must(state.commitIndex <= Math.min(message.commitIndex, verified), "S13: no commit beyond the append");
  }
  if (message.kind === "heartbeat") {
    must(state.commitIndex <= message.commitIndex, "S13: no commit beyond the heartbeat");
  }
}

/** S11: by index, the same entry in all lives of the node. */
function withCommitted(node: LocalState): Memory {
  const { memory, core: state } = node;
  const committed: CommittedEntry[] = [...memory.committed];
  for (const [at, text] of logTexts(node).slice(0, state.commitIndex).entries()) {
    const known = committed[at];
    must(known === undefined || known.text === text, `S11: entry ${at + 1} is applied once and for all`);
    const commitTerm = Math.min(state.currentTerm, known?.commitTerm ?? state.currentTerm);
    committed[at] = { text, commitTerm };
  }
  return { ...memory, committed };
}
