/**
 * Reads a history of text values by key, one EDN map a line: `{:process 9, :type :invoke, :f :append, :key
 * "0", :value "x"}`. Only the EDN that such lines need: keywords, integers, strings, `nil`. Time is the
 * number of the line.
 */
import { type Model, type Operation, perKey, unanswered } from "@quorate/sim";
import { pairUp } from "./pairing.ts";

export type TextInput =
  | { readonly kind: "get"; readonly key: string }
  | { readonly kind: "put" | "append"; readonly key: string; readonly text: string };

/** A text of each key, empty at first. Only a get answers with one. */
export const textStore: Model<string, TextInput, string | null> = perKey({
  name: "text",
  initial: "",
  step(state: string, input: TextInput, output) {
    if (input.kind === "get") return output === unanswered || output === state ? state : undefined;
    return input.kind === "put" ? input.text : state + input.text;
  },
  key: (state: string) => state,
  isRead: (input: TextInput) => input.kind === "get",
});

export function readEdnLog(text: string): Operation<TextInput, string | null>[] {
  return pairUp(text, (written) => {
    const { f, key, process, type, value } = readMap(written);
    const client = String(process);
    if (type === ":invoke") return { kind: "call", client, input: inputOf(f, String(key), value) };
    return {
      kind: "end",
      client,
      end({ at, input }) {
        if (type === ":fail") return { kind: "failed" };
        if (type === ":info") return { kind: "unknown" };
        return { kind: "ok", output: input.kind === "get" ? String(value) : null, at };
      },
    };
  });
}

function inputOf(f: unknown, key: string, value: unknown): TextInput {
  if (f === ":get") return { kind: "get", key };
  if (f === ":put" || f === ":append")
    return { kind: f === ":put" ? "put" : "append", key, text: String(value) };
  throw new Error(`not a verb of such histories: ${String(f)}`);
}

function readMap(written: string): Readonly<Record<string, unknown>> {
  const fields = [...written.matchAll(/:([a-z]+) ("(?:[^"\\]|\\.)*"|:[a-z]+|-?\d+|nil)/g)];
  if (fields.length < 5) throw new Error(`not an EDN map with five fields: ${written}`);
  return Object.fromEntries(fields.map(([, name, value]) => [name, readValue(value as string)]));
}

function readValue(written: string): unknown {
  if (written === "nil") return null;
  return written.startsWith(":") ? written : (JSON.parse(written) as unknown);
}
