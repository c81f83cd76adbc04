/** Events and states in a few words, for the trace: one line an event. */
import type { Event, Message, PeerMessage } from "@quorate/raft";
import type { StateSummary } from "./coreStep.ts";

export function describeState(state: StateSummary): string {
  const { role, term, vote, isMute, appliedIndex, commitIndex, durableIndex, lastIndex } = state;
  const votes = vote === undefined ? "" : ` vote ${short(vote)}`;
  return (
    `${role} t${term}${votes}${isMute ? " mute" : ""} applied ${appliedIndex} commit ${commitIndex} ` +
    `durable ${durableIndex} last ${lastIndex}`
  );
}

export function describeEvent(event: Event): string {
  switch (event.kind) {
    case "received":
      return `${short(event.from)}: ${describeMessage(event.message)}`;
    case "proposed":
      return `proposed #${event.id}`;
    case "readRequested":
      return `read requested #${event.id}`;
    case "persisted":
      return `write ${event.sequence} durable`;
    case "loaded":
      return `loaded ${event.entries.length} from ${event.load.from}`;
    case "applied":
      return `applied up to ${event.upTo}`;
    case "transferRequested":
      return `transfer requested #${event.id}${event.target === undefined ? "" : ` to ${short(event.target)}`}`;
    case "peerLost":
      return `${short(event.peer)} closed its connection`;
    default:
      return event.kind;
  }
}

export function describeMessage(message: Message | PeerMessage): string {
  switch (message.kind) {
    case "appendRequest": {
      const { term, session, prevIndex, prevTerm, entries, commitIndex } = message;
      return `append t${term} s${session} after ${prevIndex}/t${prevTerm} +${entries.length} commit ${commitIndex}`;
    }
    case "appendResponse": {
      const { term, session, result } = message;
      const words =
        result.kind === "matched"
          ? `matched ${result.matchIndex}`
          : `rejected ${result.rejectedIndex}, hint ${result.hintIndex}/t${result.hintTerm}`;
      return `append answer t${term} s${session} ${words}`;
    }
    case "heartbeat":
      return `heartbeat t${message.term} s${message.session} commit ${message.commitIndex} token ${message.token}`;
    case "heartbeatResponse":
      return `heartbeat answer t${message.term} s${message.session} token ${message.token}`;
    case "preVoteRequest":
    case "timeoutNow":
      return `${message.kind} t${message.term} last ${message.lastIndex}/t${message.lastTerm}`;
    case "voteRequest": {
      const { term, lastIndex, lastTerm, transfer } = message;
      return `${message.kind} t${term} last ${lastIndex}/t${lastTerm}${transfer ? " for a transfer" : ""}`;
    }
    case "preVoteResponse":
    case "voteResponse":
      return `${message.kind} t${message.term} ${message.granted ? "granted" : "refused"}`;
    case "readIndexRequest":
      return `read index? t${message.term} #${message.requestId.boot}.${message.requestId.counter}`;
    case "readIndexResponse":
      return `read index ${message.readIndex} t${message.term} #${message.requestId.boot}.${message.requestId.counter}`;
    default:
      return message.kind;
  }
}

/** `a.9f86d081884c7d65` is `a` to people. */
function short(member: string): string {
  return member.split(".")[0] as string;
}
