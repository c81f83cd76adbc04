/**
 * Persisted before sent: what a member promises in a message is on its disk when the message leaves.
 *
 * Checked at the transport port, against what the log store reported durable (disk.ts). A leader may send appends
 * before its own sync; nobody may speak in a term that its disk does not know, but to propose one or to ask for votes.
 */
import { asIndex, cachedEntries, type MemberId, type Message, type PeerMessage, termAt } from "@quorate/raft";
import { checkLeader, checkVote } from "./elections.ts";
import { type ChainLink, type History, linkAt, type MemberHistory } from "./history.ts";

export function checkSending(
  history: History,
  member: MemberHistory,
  to: MemberId,
  message: PeerMessage,
): void {
  member.sent += 1;
  switch (message.kind) {
    case "birthQuery":
    case "birthPromise":
    case "birthRefusal":
    case "birthNotice":
    case "birthAck":
      return;
    case "preVoteRequest":
      history.mark("pre-vote");
      checkTerm(history, member, message.term - 1, message);
      return;
    case "preVoteResponse":
      if (!message.granted) checkTerm(history, member, message.term, message);
      return;
    case "voteRequest":
      checkBorn(history, member, message);
      checkCandidacy(history, member, message);
      return;
    default:
      checkTerm(history, member, message.term, message);
      checkBorn(history, member, message);
      member.maxTermSent = Math.max(member.maxTermSent, message.term);
  }
  switch (message.kind) {
    case "voteResponse":
      if (message.granted) checkGrant(history, member, message.term, to);
      return;
    case "appendRequest":
      checkLeader(history, member, message.term);
      checkEntries(history, member, message);
      return;
    case "snapshotChunk":
      checkLeader(history, member, message.term);
      markResumed(history, member, to, message);
      return;
    case "heartbeat":
      checkLeader(history, member, message.term);
      checkHeartbeat(history, member, to, message);
      return;
    case "appendResponse":
      if (message.result.kind === "matched") {
        checkAck(history, member, message.term, message.result.matchIndex);
      } else if (isOfNow(member, to, message.session)) member.rejections += 1;
      return;
    default:
      return;
  }
}

/** The first content of a transfer is not the snapshot's first: the follower had that already. */
function markResumed(
  history: History,
  member: MemberHistory,
  to: MemberId,
  { term, session, header, offset, data }: Extract<Message, { kind: "snapshotChunk" }>,
): void {
  if (data.length === 0) return;
  const transfer = `${term} ${session} ${header.boundary.index}`;
  if (member.chunks.get(to) === transfer) return;
  member.chunks.set(to, transfer);
  if (offset > 0) history.mark("snapshot transfer resumed");
}

function checkBorn(history: History, member: MemberHistory, message: Message): void {
  if (member.isBorn) return;
  history.fail(
    "identity",
    `${member.member} sends a ${message.kind} of term ${message.term}, though it is no member yet`,
  );
}

/** A heartbeat tells no follower of more than this one is known to hold: it verifies nothing itself. */
function checkHeartbeat(
  history: History,
  member: MemberHistory,
  to: MemberId,
  message: Extract<Message, { kind: "heartbeat" }>,
): void {
  const peer = member.state?.leading?.peers.get(to);
  if (peer === undefined || peer.session !== message.session || message.commitIndex <= peer.match) return;
  history.fail(
    "follower commit bound",
    `${member.member} tells ${to} in a heartbeat of commit ${message.commitIndex}, but knows ${peer.match} entries ` +
      "of it to be equal",
  );
}

function checkTerm(history: History, member: MemberHistory, term: number, message: Message): void {
  if (member.term >= term) return;
  history.fail(
    "persisted before sent",
    `${member.member} sends a ${message.kind} of term ${term}, but its disk is in term ${member.term}`,
  );
}

/**
 * Its own vote need not be on the candidate's disk yet, and counts only when it is (elections.ts); but the log that it
 * is to be judged by is, and the vote was not given to another.
 */
function checkCandidacy(
  history: History,
  member: MemberHistory,
  { term, lastIndex, lastTerm }: Extract<Message, { kind: "voteRequest" }>,
): void {
  const earlier = member.votes.get(term);
  history.require(
    member.term <= term && (earlier === undefined || earlier === member.member),
    "one vote per term",
    () =>
      `${member.member} asks for votes in term ${term}, its disk in term ${member.term} voted for ${earlier}`,
  );
  const claimed = linkAt(member.log, lastIndex);
  history.require(
    claimed !== undefined && claimed.term === lastTerm,
    "persisted before sent",
    () =>
      `${member.member} asks for votes in term ${term} with a log up to ${lastIndex} of term ${lastTerm}, ` +
      `but its disk has ${member.log.length} entries, and there term ${claimed?.term}`,
  );
  history.require(
    member.floor === undefined || member.state?.floor === undefined,
    "mute members are silent",
    () => `${member.member} asks for votes in term ${term} while it is mute`,
  );
}

function checkGrant(history: History, member: MemberHistory, term: number, candidate: MemberId): void {
  checkVote(history, member, term, candidate);
  const isDurable = member.term > term || (member.term === term && member.vote === candidate);
  history.require(
    isDurable,
    "persisted before sent",
    () =>
      `${member.member} grants its vote in term ${term}, but its disk holds term ${member.term}, vote ${member.vote}`,
  );
  history.require(
    member.floor === undefined || member.state?.floor === undefined,
    "mute members are silent",
    () => `${member.member} grants its vote in term ${term} while it is mute`,
  );
}

/** Not so what answers an old copy: of a term that is over, or of a session. */
function isOfNow({ state }: MemberHistory, to: MemberId, session: number): boolean {
  return state?.leader === to && state.following.session === session;
}

/** What a follower acknowledges is on its disk, and equals the log of the leader that it answers. */
function checkAck(history: History, member: MemberHistory, term: number, match: number): void {
  const own = linkAt(member.log, match);
  if (own === undefined) {
    history.fail(
      "persisted before sent",
      `${member.member} acknowledges ${match} entries in term ${term}, but its disk has ${member.log.length}`,
    );
    return;
  }
  const leader = history.leaders.get(term);
  const leaderState = leader === undefined ? undefined : history.of(leader).state;
  if (leaderState === undefined || leaderState.currentTerm !== term || leaderState.role !== "leader") return;
  if (match < leaderState.log.boundary.index) return;
  const theirs = termAt(leaderState.log, asIndex(match));
  if (theirs === own.term) return;
  history.fail(
    "log matching",
    `${member.member} acknowledges ${match} entries in term ${term}; its last of them is of term ${own.term}, the ` +
      `leader's of term ${theirs}`,
  );
}

/** An entry that a leader neither sent nor wrote yet, as the first that it tells a new member of. */
function unseen(history: History, member: MemberHistory, index: number, term: number): ChainLink | undefined {
  const { state } = member;
  if (state?.role !== "leader" || termAt(state.log, asIndex(index)) !== term) return undefined;
  let from = index;
  const linkBefore = (): ChainLink | undefined => {
    const before = termAt(state.log, asIndex(from - 1));
    return before === undefined ? undefined : history.link(from - 1, before);
  };
  while (from > 0 && linkBefore() === undefined) from -= 1;
  let link = linkBefore();
  const entries = cachedEntries(state, asIndex(from), asIndex(index), Number.POSITIVE_INFINITY) ?? [];
  for (const entry of entries) {
    if (link !== undefined) link = history.saw(link, entry, member.member, "leads");
  }
  return link?.index === index ? link : undefined;
}

function checkEntries(
  history: History,
  member: MemberHistory,
  message: Extract<Message, { kind: "appendRequest" }>,
): void {
  const { prevIndex, prevTerm, entries } = message;
  if (entries.length === 0) return;
  const before = history.link(prevIndex, prevTerm) ?? unseen(history, member, prevIndex, prevTerm);
  if (before === undefined) {
    history.fail(
      "log matching",
      `${member.member} sends entries after entry ${prevIndex} of term ${prevTerm}, which nobody ever held`,
    );
    return;
  }
  let link: ChainLink = before;
  for (const entry of entries) link = history.saw(link, entry, member.member, "sends entries");
}
