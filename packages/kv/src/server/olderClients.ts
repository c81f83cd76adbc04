/**
 * Answers as clients of an older release can read them: a word that such a client does not know would make the whole
 * answer senseless to it, so it is told what its own release would have said.
 */
import { type ResponseBody, versionOfCommand } from "@quorate/client/protocol";

/** `machine`: the newest version of the state machine that the client's release knows. */
export function readableBy(machine: number, answer: ResponseBody): ResponseBody {
  if (answer.kind !== "leaseHistory" || machine >= versionOfCommand("loseLease")) return answer;
  const past = answer.past.map((grant) =>
    grant.end === "lost" ? { ...grant, end: "released" as const } : grant,
  );
  return { ...answer, past };
}
