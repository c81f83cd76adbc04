/**
 * The replicated state machine: one committed entry in, one result out.
 *
 *     entry ─► decode ─► exactly once, by (session, sequence) ─► run ─► result
 *
 * Total and deterministic: it reads the entry and the state, nothing else, and a command that makes no sense gets the
 * same answer on every node. It never throws.
 */
import { type Command, type CommandResult, decodeProposal, unreachable } from "@quorate/client/protocol";
import { answerOnce } from "./exactlyOnce.ts";
import { deletePair, putPair } from "./pairs.ts";
import { closeSession, expireSession, openSession } from "./sessions.ts";
import type { AppliedEntry, StoreState } from "./storeState.ts";

const nothing: CommandResult = { kind: "nothing" };

/** Entries are applied in the order of the log, each exactly once. */
export function applyEntry(state: StoreState, entry: AppliedEntry): CommandResult {
  if (entry.kind !== "command") return nothing;
  const decoded = decodeProposal(entry.data);
  if (decoded.kind === "malformed") return decoded;
  const { origin, command } = decoded.proposal;
  if (origin.kind === "anonymous") return runCommand(state, entry, command);
  return answerOnce(state, origin, () => runCommand(state, entry, command));
}

function runCommand(state: StoreState, entry: AppliedEntry, command: Command): CommandResult {
  switch (command.kind) {
    case "put":
      return putPair(state, command);
    case "delete":
      return deletePair(state, command);
    case "openSession":
      return openSession(state, entry.index, command.ttlMs);
    case "closeSession":
      return closeSession(state, command.session);
    case "expireSession":
      return expireSession(state, entry.term, command);
    default:
      return unreachable(command);
  }
}
