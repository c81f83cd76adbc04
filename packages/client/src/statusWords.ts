/** A node's status as a few words, for the message of an error. */
import type { ReportedStatus } from "./protocol/index.ts";

export function saidIn(status: ReportedStatus): string {
  const { role, term, leader, standing } = status;
  const complaint = status.complaints.at(-1);
  const why = complaint === undefined ? "" : ` (${complaint})`;
  if (standing === "unborn") return `its cluster is not founded yet${why}`;
  if (standing === "lost" || status.mute) return `it does not take part for now${why}`;
  if (standing === "closed") return "it is closing";
  if (role === "leader") return `it leads in term ${term}`;
  if (leader === "") return `it knows no leader in term ${term}`;
  return `it follows ${leader} in term ${term}`;
}
