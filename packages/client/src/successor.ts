/**
 * Who leads, and who is likely to next, by what nodes say of themselves.
 *
 * Sent to the one that is about to lead, a write is in its log with the first entry of its term.
 */
import type { ReportedStatus } from "./protocol/index.ts";

export function leads(status: ReportedStatus): boolean {
  return status.role === "leader" && mayLead(status);
}

function mayLead({ standing, mute }: ReportedStatus): boolean {
  return standing === "born" && !mute;
}

/** Of nodes that know no leader the one that is nearest to leading, where one has begun. */
export function nearest<Answer extends { readonly status: ReportedStatus }>(
  answers: readonly Answer[],
): Answer | undefined {
  const able = answers.filter(({ status }) => mayLead(status));
  return (
    able.find(({ status }) => status.role === "candidate") ??
    able.find(({ status }) => status.role === "preCandidate")
  );
}
