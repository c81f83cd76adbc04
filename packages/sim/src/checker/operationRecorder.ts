/**
 * Writes down operations as they happen, in the order of their events, with no clock: the n-th event has the
 * time n.
 *
 * It holds everything that it was told until it is dropped; an operation that nobody ended is unknown.
 */
import { QuorateError } from "@quorate/raft";
import type { Operation, OperationEnd } from "./operation.ts";
import { type KnownEffect, settledOperations } from "./settledOperations.ts";

/** An operation under way. It ends once. */
export interface OpenOperation<O> {
  /** Answered, now. */
  ok(output: O): void;
  /** It certainly had no effect. */
  failed(): void;
  /** It may have taken effect, or may still. */
  unknown(): void;
  /** Its effect was seen in the log, now, whatever its client was told or will be. The first time counts. */
  tookEffect(output: O): void;
}

export class OperationRecorder<I, O> {
  private readonly recorded: { client: string; input: I; calledAt: number; end: OperationEnd<O> }[] = [];
  private readonly effects: (KnownEffect<O> | undefined)[] = [];
  private events = 0;

  /** `client` calls, now. */
  call(client: string, input: I): OpenOperation<O> {
    const operation = { client, input, calledAt: this.tick(), end: { kind: "unknown" } as OperationEnd<O> };
    const position = this.recorded.push(operation) - 1;
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
      tookEffect: (output) => {
        this.effects[position] ??= { output, at: this.tick() };
      },
    };
  }

  /** All so far, in the order of their calls. */
  operations(): readonly Operation<I, O>[] {
    return this.recorded.map((operation) => ({ ...operation }));
  }

  /**
   * As `operations`, with no outcome left unknown: for who calls `tookEffect` for every entry that changes anything,
   * and asks when nothing is applied any more.
   */
  settled(): readonly Operation<I, O>[] {
    return settledOperations(this.operations(), (_operation, position) => this.effects[position]);
  }

  private tick(): number {
    this.events += 1;
    return this.events;
  }
}
