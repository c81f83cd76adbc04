/**
 * Makes operations of a log that tells calls and ends line by line: the end belongs to the open call of its
 * client.
 *
 * A call that has no end is unknown. Time is the number of the line.
 */
import type { Operation, OperationEnd } from "@quorate/sim";

/** A call that ends now, at line `at`. */
export interface Pending<I> {
  readonly input: I;
  readonly at: number;
}

export type LogLine<I, O> =
  | { readonly kind: "call"; readonly client: string; readonly input: I }
  | { readonly kind: "end"; readonly client: string; readonly end: (call: Pending<I>) => OperationEnd<O> };

export function pairUp<I, O>(text: string, read: (line: string) => LogLine<I, O>): Operation<I, O>[] {
  const operations: Operation<I, O>[] = [];
  /** Where in `operations` the open call of a client is. */
  const open = new Map<string, number>();
  for (const [at, written] of text.trimEnd().split("\n").entries()) {
    const line = read(written);
    const index = open.get(line.client);
    if (line.kind === "call") {
      if (index !== undefined) throw new Error(`line ${at + 1}: client ${line.client} has a call open`);
      open.set(line.client, operations.length);
      operations.push({ client: line.client, input: line.input, calledAt: at, end: { kind: "unknown" } });
    } else {
      const called = index === undefined ? undefined : operations[index];
      if (index === undefined || called === undefined) throw new Error(`line ${at + 1}: no call is open`);
      operations[index] = { ...called, end: line.end({ input: called.input, at }) };
      open.delete(line.client);
    }
  }
  return operations;
}
