/**
 * Reads a log of Jepsen's etcd test: lines such as `INFO  jepsen.util - 3 :invoke :cas [1 2]`, fields set
 * apart by tabs.
 *
 * One register with compare-and-set. `:fail` of a compare-and-set is its answer, that it did not match;
 * `:info`, and whatever is `:timed-out`, is an unknown outcome. Time is the number of the line.
 */
import type { Operation, RegisterInput, RegisterOutput } from "@quorate/sim";
import { type Pending, pairUp } from "./pairing.ts";

const line = /^INFO\s+jepsen\.util - (\d+)\t:(invoke|ok|fail|info)\t:(read|write|cas)\t(.*)$/;

export function readJepsenLog(text: string): Operation<RegisterInput, RegisterOutput>[] {
  return pairUp(text, (written) => {
    const match = line.exec(written);
    if (match === null) throw new Error(`not a line of a Jepsen log: ${written}`);
    const [, client, type, verb, value] = match as unknown as [string, string, string, string, string];
    if (type === "invoke") return { kind: "call", client, input: inputOf(verb, value) };
    return { kind: "end", client, end: (call) => endOf(call, type, value) };
  });
}

function inputOf(verb: string, value: string): RegisterInput {
  if (verb === "read") return { kind: "get" };
  if (verb === "write") return { kind: "put", value: Number(value) };
  const [expected, next] = value.slice(1, -1).split(" ").map(Number) as [number, number];
  return { kind: "cas", expected, value: next };
}

function endOf({ at, input }: Pending<RegisterInput>, type: string, value: string) {
  if (type === "info" || value === ":timed-out") return { kind: "unknown" as const };
  return { kind: "ok" as const, output: outputOf(input, type, value), at };
}

function outputOf(input: RegisterInput, type: string, value: string): RegisterOutput {
  if (input.kind === "get") return { kind: "value", value: value === "nil" ? undefined : Number(value) };
  return type === "ok" ? { kind: "done" } : { kind: "refused" };
}
