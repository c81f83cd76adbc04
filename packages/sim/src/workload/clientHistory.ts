/**
 * What the clients of a run did, in the form in which the checker of linearizability reads it, and its verdict at the
 * end: a second opinion on what the oracle (oracle.ts) judges at once.
 *
 * Values are never written twice, so a condition on a revision is one on the value that made it.
 */
import { explain } from "../checker/explanation.ts";
import { checkLinearizability } from "../checker/linearizability.ts";
import { type KeyValueInput, type KeyValueOutput, keyValueModel } from "../checker/models/keyValue.ts";
import { type OpenOperation, OperationRecorder } from "../checker/operationRecorder.ts";
import type { History } from "../invariants/history.ts";

/** Enough for tens of thousands of operations; a run that needs more is a violation, never a pass. */
const maxSteps = 20_000_000;
const maxMemoryBytes = 128 * 1024 * 1024;

export type ClientCall = OpenOperation<KeyValueOutput>;

export class ClientHistory {
  private readonly recorder = new OperationRecorder<KeyValueInput, KeyValueOutput>();

  get(client: string, key: string): ClientCall {
    return this.recorder.call(client, { kind: "get", key });
  }

  put(client: string, key: string, value: number): ClientCall {
    return this.recorder.call(client, { kind: "put", key, value });
  }

  /** A put on the condition that the key holds `expected`, the value of the write that made its revision. */
  replace(client: string, key: string, expected: number | undefined, value: number): ClientCall {
    return this.recorder.call(client, { kind: "cas", key, expected, value });
  }

  /** How many operations there were. Unknown is no pass. */
  check(history: History): number {
    const operations = this.recorder.operations();
    const model = keyValueModel();
    const verdict = checkLinearizability(model, operations, { maxSteps, maxMemoryBytes });
    if (verdict.kind !== "linearizable") history.fail("linearizability", explain(model, verdict));
    return operations.length;
  }
}
