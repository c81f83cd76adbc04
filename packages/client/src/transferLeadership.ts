/** Asks the leader to hand its office over. Resolves when another node leads, or the one that was named already did. */
import { QuorateError } from "@quorate/raft";
import type { Caller } from "./caller.ts";
import type { Succession, TransferOptions } from "./cluster.ts";
import { patienceOptions } from "./kv.ts";
import type { Calls } from "./patience.ts";

export function transferLeadership(
  caller: Caller,
  calls: Calls,
  options: TransferOptions,
  requestTimeoutMs: number,
): Promise<Succession> {
  const { target = "" } = options;
  return calls.run(patienceOptions(options, requestTimeoutMs), async (patience) => {
    // Not sent twice: a second one would move the office on from the node that has it by then.
    const policy = { target: "leader", resend: "ifNone", hasEffect: true } as const;
    const { body } = await caller.call({ kind: "transfer", target }, policy, patience);
    if (body.kind === "transferred") return { leader: body.leader, term: body.term };
    throw new QuorateError(
      "REFUSED",
      `The node answered a transfer with "${body.kind}", which makes no sense.`,
      {
        outcome: "unknown",
      },
    );
  });
}
