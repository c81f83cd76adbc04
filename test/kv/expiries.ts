/** Whom a proposal would end for their silence. */
import { decodeProposal } from "@quorate/client/protocol";

export function expiredBy(data: Uint8Array | undefined): number[] {
  const decoded = decodeProposal(data ?? new Uint8Array(0));
  if (decoded.kind !== "proposal" || decoded.proposal.command.kind !== "expireSessions") return [];
  return decoded.proposal.command.sessions.map(({ session }) => session);
}
