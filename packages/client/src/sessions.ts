/** `cluster.sessions`: who is alive at the cluster, and the end of a session that nobody is behind any more. */
import { QuorateError } from "@quorate/raft";
import { type CallPolicy, senseless } from "./caller.ts";
import type { ClusterSessions, RequestOptions, SessionInfo, SessionListOptions } from "./cluster.ts";
import { type AskPorts, patienceOptions } from "./kv.ts";
import { taken } from "./optionNames.ts";
import { encodeProposal, maxListLimit, type SessionReport, textOfByteString } from "./protocol/index.ts";
import { executedOf, unexpected } from "./writer.ts";

const reading: CallPolicy = { target: "home", resend: "always", hasEffect: false };
/** A session's id is never used again, so it may be asked twice. */
const closing: CallPolicy = {
  target: "leader",
  resend: "always",
  hasEffect: true,
  advice: "list the sessions to see",
};

export function clusterSessions(ports: AskPorts): ClusterSessions {
  return {
    list: async (options = {}) => list(ports, taken("sessions.list", options)),
    close: async (session, options = {}) => close(ports, session, taken("sessions.close", options)),
  };
}

async function list(ports: AskPorts, options: SessionListOptions): Promise<readonly SessionInfo[]> {
  const { after = 0, limit = 1_000 } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > maxListLimit) {
    throw invalid(`The limit is ${limit}; it has to be from 1 to ${maxListLimit}.`);
  }
  if (!Number.isSafeInteger(after + 1) || after < 0)
    throw invalid(`after is ${after}; it is a session's id.`);
  const patient = patienceOptions(options, ports.requestTimeoutMs);
  const body = { kind: "listSessions", from: after + 1, limit, consistency: "linearizable" } as const;
  const answered = await ports.calls.run(patient, (patience) => ports.caller.call(body, reading, patience));
  if (answered.body.kind !== "sessions") throw senseless("a read", answered.body, "none");
  return answered.body.sessions.map(infoOf);
}

/** In no session's name: the store takes a session's own word for it that its leases are over. */
async function close(ports: AskPorts, session: number, options: RequestOptions): Promise<boolean> {
  if (!Number.isSafeInteger(session) || session < 1) {
    throw invalid(`${session} is no session's id; a list of sessions shows them.`);
  }
  const proposal = encodeProposal({
    origin: { kind: "anonymous" },
    command: { kind: "closeSession", session },
  });
  const patient = patienceOptions(options, ports.requestTimeoutMs);
  const answered = await ports.calls.run(patient, (patience) =>
    ports.caller.call({ kind: "execute", proposal }, closing, patience),
  );
  const { result } = executedOf(answered);
  if (result.kind === "refused") throw new QuorateError("REFUSED", result.reason);
  if (result.kind !== "sessionClosed") throw unexpected(result, answered.earlierUnanswered);
  return result.existed || answered.earlierUnanswered;
}

function infoOf({ session, ttlMs, silentMs, held, waiting, keys, holder }: SessionReport): SessionInfo {
  return { session, ttlMs, silentMs, held, waiting, keys, holder: textOfByteString(holder) };
}

function invalid(sentence: string): QuorateError {
  return new QuorateError("INVALID_ARGUMENT", sentence);
}
