/** Asks the leader to hand its office over. Resolves when another node leads, or the one that was named already did. */
import { senseless } from "./caller.ts";
import type { Succession, TransferOptions } from "./cluster.ts";
import { type AskPorts, patienceOptions } from "./kv.ts";

export function transferLeadership(
  { calls, caller, requestTimeoutMs }: AskPorts,
  options: TransferOptions,
): Promise<Succession> {
  const { target = "" } = options;
  return calls.run(patienceOptions(options, requestTimeoutMs), async (patience) => {
    // Not sent twice: a second one would move the office on from the node that has it by then.
    const advice = "ask for the status to see who leads";
    const policy = { target: "leader", resend: "ifNone", hasEffect: true, advice } as const;
    const { body } = await caller.call({ kind: "transfer", target }, policy, patience);
    if (body.kind === "transferred") return { leader: body.leader, term: body.term };
    throw senseless("a transfer", body, "unknown");
  });
}
