/** The words of the command line: what they mean, and what is said of words that mean nothing. */
import { commandTable, type Invocation, outlineOf, parseInvocation, UsageError } from "quorate/internal";
import { describe, expect, it } from "vitest";

function parse(...args: string[]): Invocation {
  return parseInvocation(args);
}

describe("the command line", () => {
  it.each<[string[], Partial<Extract<Invocation, { kind: "command" }>>]>([
    [["put", "greeting", "hello"], { command: "put", positionals: ["greeting", "hello"], options: {} }],
    [["put", "k", "-"], { command: "put", positionals: ["k", "-"] }],
    [["put", "--", "-k", "--v"], { command: "put", positionals: ["-k", "--v"] }],
    [["get", "k", "--json"], { options: { json: true } }],
    [["--endpoints", "ws://h:1", "get", "k"], { command: "get", options: { endpoints: "ws://h:1" } }],
    [["get", "k", "--endpoints=ws://h:1"], { options: { endpoints: "ws://h:1" } }],
    [["put", "k", "v", "--if-revision", "7"], { options: { "if-revision": "7" } }],
    [["list"], { command: "list", positionals: [] }],
    [["list", "jobs/", "--keys-only"], { positionals: ["jobs/"], options: { "keys-only": true } }],
    [["cluster", "--nodes", "5", "--ephemeral"], { options: { nodes: "5", ephemeral: true } }],
    [["cluster", "--no-table"], { options: { "no-table": true } }],
    [["watch", "--prefix", ""], { options: { prefix: "" } }],
    [
      ["lock", "--try", "n", "--", "rm", "--json"],
      { positionals: ["n", "rm", "--json"], options: { try: true } },
    ],
  ])("%j is understood", (args, expected) => {
    expect(parse(...args)).toMatchObject({ kind: "command", ...expected });
  });

  it("asks for help and version in every place that people try", () => {
    expect(parse("--version")).toEqual({ kind: "version" });
    for (const args of [["--help"], ["-h"], ["help"]]) {
      expect(parse(...args)).toEqual({ kind: "help", command: undefined });
    }
    for (const args of [
      ["put", "--help"],
      ["--help", "put"],
      ["help", "put"],
      ["put", "-h"],
    ]) {
      expect(parse(...args)).toEqual({ kind: "help", command: "put" });
    }
  });

  it.each([
    [[], "No command given"],
    [["frobnicate"], 'no command "frobnicate"'],
    [["get"], "KEY is missing: quorate get KEY."],
    [["lock", "x"], "CMD… is missing: quorate lock NAME -- CMD…."],
    [["lock", "--", "x", "y"], "Use it so: quorate lock NAME -- CMD…"],
    [["lock", "my", "job", "--", "rm", "x"], "before it is NAME alone"],
    [["elect", "x", "y"], "The command to run is all that stands after --"],
    [["put", "k"], "VALUE|- is missing"],
    [["get", "k", "--endpoints", ""], "--endpoints needs a value"],
    [["get", "k", "extra"], '"extra" is one too many'],
    [["status", "extra"], "takes no arguments"],
    [["get", "k", "--frob"], "There is no option --frob"],
    [["get", "-5"], "goes after --"],
    [["get", "k", "--ephemeral"], "quorate get does not take --ephemeral. It takes --revision, --endpoints"],
    [["demo", "billing", "--json"], "quorate demo does not take --json. It takes none."],
    [["get", "k", "--timeout"], "--timeout needs a value: --timeout TIME."],
    [["node", "--listen", "--peers", "a=ws://h:1"], "--listen needs a value"],
    [
      ["sim", "--minimize", "f.json"],
      "is one too many. The schedule in a file is made small with --replay FILE",
    ],
    [["sim", "--minimize=f.json"], "The schedule in a file is made small with --replay FILE --minimize."],
    [["get", "k", "--json=yes"], "--json takes no value"],
    [["get", "k", "--json", "--json"], "--json is given twice"],
  ])("%j is refused in words", (args, sentence) => {
    expect(() => parse(...args)).toThrow(UsageError);
    expect(() => parse(...args)).toThrow(sentence);
  });

  it("says what decides how errors are told, wherever it stands, of words that cannot be read too", () => {
    expect(outlineOf(["--ttl", "5s", "lock", "n", "--", "cmd", "--json"])).toEqual({
      command: "lock",
      json: false,
    });
    expect(outlineOf(["get", "--json", "--frob"])).toEqual({ command: "get", json: true });
    expect(outlineOf([])).toEqual({ command: undefined, json: false });
  });

  it("gives every command what it needs: no option twice, brackets only at the end", () => {
    for (const spec of Object.values(commandTable)) {
      expect(new Set(spec.options).size).toBe(spec.options.length);
      const isOptional = spec.positionals.map((name) => name.startsWith("["));
      expect(isOptional).toEqual([...isOptional].sort());
    }
  });
});
