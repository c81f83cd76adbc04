/**
 * What the clients of a run did, in the form in which the checker of linearizability reads it, and its verdict at the
 * end: a second opinion on what the oracle (oracle.ts) judges at once.
 *
 * Values are never written twice, so a condition on a revision is one on the value that made it, and the log tells of
 * every write whether it took effect, so that none is left unknown: a run with hundreds of those would not be decided.
 */
import { explain } from "../checker/explanation.ts";
import { checkLinearizability } from "../checker/linearizability.ts";
import { type KeyValueInput, type KeyValueOutput, keyValueModel } from "../checker/models/keyValue.ts";
import { type OpenOperation, OperationRecorder } from "../checker/operationRecorder.ts";
import type { History } from "../invariants/history.ts";

/** Some hundred times what a run needs; one that needs more is a violation, never a pass. */
const maxSteps = 2_000_000;
const maxMemoryBytes = 128 * 1024 * 1024;

export type ClientCall = OpenOperation<KeyValueOutput>;

export class ClientHistory {
  private readonly recorder = new OperationRecorder<KeyValueInput, KeyValueOutput>();
  private readonly writes = new Map<number, ClientCall>();

  get(client: string, key: string): ClientCall {
    return this.recorder.call(client, { kind: "get", key });
  }

  put(client: string, key: string, value: number): ClientCall {
    return this.write(client, { kind: "put", key, value });
  }

  /** A put on the condition that the key holds `expected`, the value of the write that made its revision. */
  replace(client: string, key: string, expected: number | undefined, value: number): ClientCall {
    return this.write(client, { kind: "cas", key, expected, value });
  }

  /** The write of `value` was applied for the first time, by whichever node, and changed the store. */
  tookEffect(value: number): void {
    this.writes.get(value)?.tookEffect({ kind: "done" });
  }

  /** How many operations there were. Unknown is no pass. */
  check(history: History): number {
    const operations = this.recorder.settled();
    const model = keyValueModel();
    const verdict = checkLinearizability(model, operations, { maxSteps, maxMemoryBytes });
    if (verdict.kind !== "linearizable") history.fail("linearizability", explain(model, verdict));
    return operations.length;
  }

  private write(client: string, input: KeyValueInput & { readonly value: number }): ClientCall {
    const call = this.recorder.call(client, input);
    this.writes.set(input.value, call);
    return call;
  }
}
