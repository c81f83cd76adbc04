/**
 * Writes down operations as they happen, in the order of their events, with no clock: the n-th event has the
 * time n.
 *
 * It holds everything that it was told until it is dropped; an operation that nobody ended is unknown.
 */
import { QuorateError } from "@quorate/raft";
import type { Operation, OperationEnd } from "./operation.ts";

/** An operation under way. Exactly one of its methods is to be called, once. */
export interface OpenOperation<O> {
  /** Answered, now. */
  ok(output: O): void;
  /** It certainly had no effect. */
  failed(): void;
  /** It may have taken effect, or may still. */
  unknown(): void;
}

export class OperationRecorder<I, O> {
  private readonly recorded: { client: string; input: I; calledAt: number; end: OperationEnd<O> }[] = [];
  private events = 0;

  /** `client` calls, now. */
  call(client: string, input: I): OpenOperation<O> {
    const operation = { client, input, calledAt: this.tick(), end: { kind: "unknown" } as OperationEnd<O> };
    this.recorded.push(operation);
    let open = true;
    const end = (how: OperationEnd<O>): void => {
      if (!open) throw new QuorateError("INVALID_ARGUMENT", `An operation of client ${client} ended twice.`);
      open = false;
      operation.end = how;
    };
    return {
      ok: (output) => end({ kind: "ok", output, at: this.tick() }),
      failed: () => end({ kind: "failed" }),
      unknown: () => end({ kind: "unknown" }),
    };
  }

  /** All so far, in the order of their calls. */
  operations(): readonly Operation<I, O>[] {
    return this.recorded.map((operation) => ({ ...operation }));
  }

  private tick(): number {
    this.events += 1;
    return this.events;
  }
}
