/**
 * How a command reaches the store: through a session (session.ts), or, for one-shot commands, without one.
 *
 * Without a session a write is sent again only where no attempt can have had an effect; it then says `unknown` when it
 * does not know.
 */
import { QuorateError } from "@quorate/raft";
import { type Answered, type Caller, type CallPolicy, senseless } from "./caller.ts";
import type { Patience } from "./patience.ts";
import { type Command, type CommandResult, encodeProposal } from "./protocol/index.ts";

export interface Executed {
  readonly result: CommandResult;
  /** An attempt before the answered one may have arrived too, or may still arrive. */
  readonly earlierUnanswered: boolean;
}

export interface Writer {
  /** Rejects where the command got no answer, or may not be sent again. */
  execute(command: Command, patience: Patience): Promise<Executed>;
  /** Never rejects. */
  close(): Promise<void>;
}

const once: CallPolicy = { target: "leader", resend: "ifNone", hasEffect: true };

export function sessionlessWriter(caller: Caller): Writer {
  return {
    async execute(command, patience) {
      const proposal = encodeProposal({ origin: { kind: "anonymous" }, command });
      return executedOf(await caller.call({ kind: "execute", proposal }, once, patience));
    },
    close: () => Promise.resolve(),
  };
}

export function executedOf({ body, earlierUnanswered }: Answered): Executed {
  if (body.kind === "executed") return { result: body.result, earlierUnanswered };
  throw senseless("a write", body, "unknown");
}

/** A result that is none of those that the command can have; each says by itself that nothing was done. */
export function unexpected(result: CommandResult, earlierUnanswered: boolean): QuorateError {
  const outcome = earlierUnanswered || result.kind === "alreadyAcknowledged" ? "unknown" : "none";
  switch (result.kind) {
    case "refused":
      return new QuorateError("OVERLOADED", result.reason, { outcome, retryable: true });
    case "malformed":
      return new QuorateError("INVALID_ARGUMENT", result.reason, { outcome });
    case "tooLarge":
      return new QuorateError("TOO_LARGE", result.reason, { outcome });
    case "quotaExceeded": {
      const { neededBytes, quotaBytes } = result;
      const sentence =
        `The store would hold ${neededBytes} bytes, above its quota of ${quotaBytes}. ` +
        "Delete keys, or raise the quota.";
      return new QuorateError("QUOTA_EXCEEDED", sentence, { outcome });
    }
    default:
      return new QuorateError("REFUSED", `The store answered a write with "${result.kind}".`, { outcome });
  }
}
