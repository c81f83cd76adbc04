/**
 * The commands that the replicated state machine understands, and what it answers.
 *
 * A command is encoded once, by the client, and its bytes are opaque from there to `apply` on every node
 * (commandCodec.ts).
 */
import type { LeaderCommand, LeaseAt, LeaseCommand, LeaseResult } from "./leaseCommands.ts";
import type { StoreLimits } from "./storeLimits.ts";
import type { Transaction, TransactionOpResult } from "./transactions.ts";

/** How a value's bytes are meant: raw bytes, UTF-8 text, or JSON in UTF-8. */
export type Format = "bytes" | "text" | "json";

/** A key as the state machine holds it: one character (U+0000 to U+00FF) a byte, so that `<` is byte order. */
export type ByteString = string;

/** What must be true of the key for the command to take effect. */
export type Condition =
  | { readonly kind: "none" }
  | { readonly kind: "absent" }
  | { readonly kind: "revision"; readonly revision: number };

export type Command =
  | {
      readonly kind: "put";
      readonly key: ByteString;
      readonly value: Uint8Array;
      readonly format: Format;
      readonly condition: Condition;
      /** Attached to the session that puts it: it is deleted when that ends. */
      readonly attached?: true;
      readonly fence?: LeaseAt;
    }
  | {
      readonly kind: "delete";
      readonly key: ByteString;
      readonly condition: Condition;
      readonly fence?: LeaseAt;
    }
  /** The session's id is the index of this command's entry. `ttlMs` is Infinity for one that no silence ends. */
  | { readonly kind: "openSession"; readonly ttlMs: number }
  | { readonly kind: "closeSession"; readonly session: number }
  /** As leaders of version 0.1 wrote it; `term` is the term it was proposed in. Now: `expireSessions`. */
  | { readonly kind: "expireSession"; readonly session: number; readonly term: number }
  | Transaction
  /** Changes the limits that it names, and tells those in force. */
  | { readonly kind: "limitStore"; readonly limits: Partial<StoreLimits> }
  | StateComparison
  | VersionRaise
  /** Proposed by the leader alone. */
  | LeaderCommand
  | LeaseCommand;

/**
 * Proposed by the leader alone, when every member has shown that it knows this version of the machine: commands of it
 * may come from now on. Whoever does not know it stops here.
 */
export interface VersionRaise {
  readonly kind: "raiseVersion";
  readonly office: number;
  readonly version: number;
}

/**
 * Proposed by the leader alone: what its store was when it had applied the entry `index`. It changes nothing; each
 * member holds it against its own.
 */
export interface StateComparison {
  readonly kind: "compareStates";
  readonly index: number;
  /** Two words of 32 bits. */
  readonly digest: readonly [number, number];
  /** The id of the node that says so. */
  readonly node: ByteString;
}

/** Who sent a command. A command with a session is executed once, however often it arrives. */
export type Origin =
  | { readonly kind: "anonymous" }
  | {
      readonly kind: "session";
      readonly session: number;
      /** From 1, one more for each command of the session. */
      readonly sequence: number;
      /** The client has the answers of every sequence below this one; the server may forget them. */
      readonly ackedBelow: number;
    };

export interface Proposal {
  readonly origin: Origin;
  readonly command: Command;
}

/** Answers of a session kept at most; a sequence this far above `ackedBelow` is refused. */
export const sessionWindow = 1_024;

export type CommandResult =
  | { readonly kind: "put"; readonly revision: number }
  /** `revision` is the store's after the delete; unchanged where there was nothing to delete. */
  | { readonly kind: "deleted"; readonly revision: number; readonly existed: boolean }
  /** The condition did not hold. `modRevision` is the key's current one, 0 where it is absent. */
  | { readonly kind: "conflict"; readonly modRevision: number }
  | { readonly kind: "sessionOpened"; readonly session: number }
  /** `existed` is false where the session had ended before. */
  | { readonly kind: "sessionClosed"; readonly existed: boolean }
  /** The command's session is not alive: it was refused, and did nothing now. */
  | { readonly kind: "sessionEnded" }
  /** The sequence is below `ackedBelow`: the client had its answer. */
  | { readonly kind: "alreadyAcknowledged" }
  | { readonly kind: "beyondWindow" }
  /**
   * The kept answers of the session take all their room: the command did nothing, and may be sent again under its
   * sequence when the client has acknowledged some.
   */
  | { readonly kind: "answersFull" }
  | { readonly kind: "malformed"; readonly reason: string }
  /** A limit of the store is reached, and the command did nothing. Its sequence is used up like any other's. */
  | { readonly kind: "refused"; readonly reason: string }
  /** `revision` is the store's after it: unchanged where no key was. */
  | {
      readonly kind: "transacted";
      readonly revision: number;
      /** Whether the compares held: which branch ran. */
      readonly succeeded: boolean;
      readonly results: readonly TransactionOpResult[];
    }
  /** The store would grow above its quota: nothing was done. Deletes always work. */
  | { readonly kind: "quotaExceeded"; readonly neededBytes: number; readonly quotaBytes: number }
  /** What it would read or delete at once is above a limit, which the reason names: nothing was done. */
  | { readonly kind: "tooLarge"; readonly reason: string }
  | { readonly kind: "storeLimited"; readonly limits: StoreLimits }
  /** The answer to an entry that is no command (a leader's no-op, a configuration), or to an expiry out of date. */
  | { readonly kind: "nothing" }
  | LeaseResult;
