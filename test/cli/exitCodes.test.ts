/** Exit codes: scripts branch on them, and a failure is never a success. */
import { type ErrorCode, errorCodes, QuorateError } from "@quorate/raft";
import {
  CommandFailure,
  commandTable,
  exitCodeMeanings,
  exitCodeOf,
  helpText,
  sentenceOf,
  UsageError,
} from "quorate/internal";
import { describe, expect, it } from "vitest";

describe("exit codes", () => {
  it.each<[ErrorCode, number]>([
    ["CONFLICT", 4],
    ["TIMED_OUT", 3],
    ["UNAVAILABLE", 3],
    ["NOT_LEADER", 3],
    ["OVERLOADED", 3],
    ["CONNECTION_FAILED", 3],
    ["PROPOSAL_LOST", 3],
    ["INVALID_OPTIONS", 2],
    ["INVALID_ARGUMENT", 2],
    ["DATA_LOST", 70],
    ["STORAGE_FAILED", 70],
    ["REMOVED", 6],
    ["ADDRESS_IN_USE", 1],
    ["WRONG_DIRECTORY", 1],
    ["DIRECTORY_IN_USE", 1],
    ["REFUSED", 1],
    ["TOO_LARGE", 1],
    ["INVARIANT_BROKEN", 1],
  ])("%s ends with %d", (code, exitCode) => {
    expect(exitCodeOf(new QuorateError(code, "Something."))).toBe(exitCode);
  });

  it("are never 0 for an error, of whatever kind", () => {
    for (const code of errorCodes)
      expect(exitCodeOf(new QuorateError(code, "Something."))).toBeGreaterThan(0);
    for (const error of [new Error("x"), new TypeError("x"), undefined, "text"])
      expect(exitCodeOf(error)).toBe(1);
    expect(exitCodeOf(new UsageError("x"))).toBe(2);
    expect(exitCodeOf(new CommandFailure(5, "x"))).toBe(5);
  });

  it("are explained by --help of every command", () => {
    expect(exitCodeMeanings.map(([code]) => code)).toEqual([0, 1, 2, 3, 4, 5, 6, 70, 120, 121, 125]);
    for (const command of [undefined, "put", "node", "cluster"] as const) {
      for (const [, meaning] of exitCodeMeanings) expect(helpText(command)).toContain(meaning);
    }
  });
});

describe("--help", () => {
  it("keeps what a command does apart from its words, however many they are", () => {
    expect(helpText("session")).toMatch(/--limit N +list: .*default: all/);
    expect(helpText("lease")).toMatch(/--limit N +list: .*default 1000/);
    expect(helpText("demo")).toMatch(/^Usage: quorate demo STORY\n/);
    const lines = helpText(undefined).split("\n");
    for (const [name, { about }] of Object.entries(commandTable)) {
      expect(lines.find((line) => line.startsWith(`  ${name} `))?.endsWith(`  ${about}`)).toBe(true);
    }
  });

  it("puts the command of another program behind --, and options before that", () => {
    expect(helpText(undefined)).toContain("lock NAME -- CMD…");
    expect(helpText("elect")).toContain("Usage: quorate elect [OPTIONS] NAME -- CMD…\n");
    expect(helpText("member")).toContain("Usage: quorate member ACTION [ID] [ENDPOINT] [OPTIONS]\n");
  });
});

describe("the sentence of an error", () => {
  it.each([
    ["put", /read the key .*--if-absent/],
    ["delete", /read the key .*--if-revision/],
    ["txn", /read its keys/],
    ["member", /quorate member list .*--if-index/],
    ["node", /quorate member list/],
    ["transfer", /quorate status/],
    ["lease", /quorate lease show/],
    ["session", /quorate session list/],
    ["limits", /quorate limits/],
    ["demo", /look how it stands/],
  ])("calls the unknown outcome of %s unknown and says where to look", (command, look) => {
    const error = new QuorateError("TIMED_OUT", "No answer within 5 s.", { outcome: "unknown" });
    const sentence = sentenceOf(error, command);
    expect(sentence).toMatch(/^No answer within 5 s\. The outcome is unknown: /);
    expect(sentence).toMatch(look);
    expect(sentence.includes("the key")).toBe(command === "put" || command === "delete");
  });

  it("does not call a definite failure unknown", () => {
    expect(sentenceOf(new QuorateError("TIMED_OUT", "No answer."))).toBe("No answer.");
    expect(sentenceOf(new Error("Plain."))).toBe("Plain.");
  });
});
