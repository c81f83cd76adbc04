/** How a transcript says things: messages, entries, writes, states. Deterministic, and short enough to be read. */
import type {
  Effects,
  Entry,
  MemberId,
  Message,
  Persist,
  Progress,
  RaftState,
  ReadOutcome,
} from "@quorate/raft";
import { type Disk, nameOf } from "../core/cluster.ts";

export function entryWords({ index, term, kind, data }: Entry): string {
  return `${index}/t${term} ${kind === "command" ? new TextDecoder().decode(data) : kind}`;
}

export function entriesWords(entries: readonly Entry[]): string {
  return `[${entries.map(entryWords).join(", ")}]`;
}

export function messageWords(message: Message): string {
  const head = `${message.kind} t${message.term}`;
  switch (message.kind) {
    case "preVoteRequest":
    case "timeoutNow":
      return `${head} last ${message.lastIndex}/t${message.lastTerm}`;
    case "voteRequest": {
      const flag = message.transfer ? " for a transfer" : "";
      return `${head} last ${message.lastIndex}/t${message.lastTerm}${flag}`;
    }
    case "preVoteResponse":
    case "voteResponse":
      return `${head} ${message.granted ? "granted" : "refused"}`;
    case "appendRequest": {
      const { prevIndex, prevTerm, commitIndex, entries, session } = message;
      return `${head} session ${session} prev ${prevIndex}/t${prevTerm} commit ${commitIndex} ${entriesWords(entries)}`;
    }
    case "appendResponse": {
      const { result, session } = message;
      if (result.kind === "matched") return `${head} session ${session} matched ${result.matchIndex}`;
      const { rejectedIndex, hintIndex, hintTerm } = result;
      return `${head} session ${session} rejected ${rejectedIndex} hint ${hintIndex}/t${hintTerm}`;
    }
    case "heartbeat":
      return `${head} session ${message.session} commit ${message.commitIndex} token ${message.token}`;
    case "heartbeatResponse":
      return `${head} session ${message.session} token ${message.token}`;
    case "snapshotChunk": {
      const { header, offset, data, session } = message;
      const { boundary, bytes } = header;
      const part = data.length === 0 ? `asks, at ${offset}` : `${offset}..${offset + data.length}`;
      return `${head} session ${session} of ${boundary.index}/t${boundary.term} ${part} of ${bytes} bytes`;
    }
    case "snapshotResponse":
      return `${head} session ${message.session} of ${message.index} has ${message.offset} bytes`;
    case "readIndexRequest":
      return `${head} request ${message.requestId.boot}.${message.requestId.counter}`;
    case "readIndexResponse":
      return `${head} request ${message.requestId.boot}.${message.requestId.counter} index ${message.readIndex}`;
  }
}

function voteWords(vote: MemberId | undefined): string {
  return vote === undefined ? "no vote" : `vote ${nameOf(vote)}`;
}

function writeWords({ term, vote, floor, truncateFrom, entries }: Persist): string {
  const cut = truncateFrom === undefined ? "" : `, cut from ${truncateFrom}`;
  const added = entries.length === 0 ? "" : `, ${entriesWords(entries)}`;
  const below = floor === undefined ? "" : `, floor ${floor.lastIndex}/t${floor.lastTerm}`;
  return `t${term}, ${voteWords(vote)}${below}${cut}${added}`;
}

function readWords(read: ReadOutcome): string {
  if (read.kind === "refused") return `read ${read.id} refused: ${read.reason}`;
  return `read ${read.id} may be served at index ${read.index}${read.asLeader ? "" : ", as the leader says"}`;
}

/** What came out of one turn of `name`, a line each. */
export function effectsWords(
  name: string,
  effects: Effects,
  commitBefore: number,
  isLost: (to: string, message: Message) => boolean,
): string[] {
  const lines: string[] = [];
  const { roleChange, proposals, reads, persist, send, commitIndex } = effects;
  if (roleChange !== undefined) {
    const { role, term, leader } = roleChange;
    const of = role === "follower" ? (leader === undefined ? " of nobody" : ` of ${nameOf(leader)}`) : "";
    lines.push(`${name} is ${role}${of} in t${term}`);
  }
  for (const outcome of proposals) {
    const { kind, id } = outcome;
    lines.push(
      kind === "appended"
        ? `${name} appends proposal ${id} at ${outcome.index}/t${outcome.term}`
        : `${name} refuses proposal ${id}: ${outcome.reason}`,
    );
  }
  if (commitIndex > commitBefore) lines.push(`${name} commits up to ${commitIndex}`);
  for (const read of reads) lines.push(`${name} ${readWords(read)}`);
  for (const { to, message } of send) {
    const lost = isLost(nameOf(to), message) ? " (lost)" : "";
    lines.push(`${name}→${nameOf(to)} ${messageWords(message)}${lost}`);
  }
  lines.push(...snapshotWords(name, effects));
  if (persist !== undefined) lines.push(`${name} begins write ${persist.sequence}: ${writeWords(persist)}`);
  return lines;
}

function snapshotWords(
  name: string,
  { snapshots, chunkLoads, chunks, install, compactTo }: Effects,
): string[] {
  const lines = snapshots.map(
    ({ kind, peer, header }) => `${name} sends snapshot ${header.boundary.index} to ${nameOf(peer)}: ${kind}`,
  );
  for (const { offset, bytes } of chunkLoads) lines.push(`${name} reads ${offset}..${offset + bytes} of it`);
  for (const { message } of chunks) {
    const { offset, data, header } = message;
    lines.push(
      data.length === 0
        ? `${name} looks how much of snapshot ${header.boundary.index} it has`
        : `${name} stores ${offset}..${offset + data.length} of it`,
    );
  }
  if (install !== undefined) lines.push(`${name} begins to install snapshot ${install.boundary.index}`);
  if (compactTo !== undefined) lines.push(`${name} compacts its log up to ${compactTo}`);
  return lines;
}

export function stateWords(name: string, state: RaftState, isUp: boolean): string {
  if (!isUp) return `${name} is down`;
  const { role, currentTerm, vote, leader, commitIndex, log, disk, floor } = state;
  const follows = leader === undefined ? "no leader" : `leader ${nameOf(leader)}`;
  const mute = floor === undefined ? "" : `, mute below ${floor.lastIndex}/t${floor.lastTerm}`;
  const ends = `last ${log.lastIndex}, durable ${disk.durableIndex}, commit ${commitIndex}`;
  return `${name} ${role} t${currentTerm}, ${voteWords(vote)}, ${follows}, ${ends}${mute}`;
}

export function diskWords(name: string, { term, vote, entries }: Disk): string {
  return `${name} on disk: t${term}, ${voteWords(vote)}, ${entriesWords(entries)}`;
}

export function progressWords({ id, mode, match, next, inflight, session }: Progress): string {
  const window = inflight.map(({ lastIndex }) => lastIndex).join(" ");
  return `${nameOf(id)} ${mode} session ${session}, match ${match}, next ${next}, in flight [${window}]`;
}
