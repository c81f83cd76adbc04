/**
 * Histories of other people's tests, with the verdicts that their checkers gave: the test data of porcupine,
 * laid beside the checkout. Where they are not, this file says so; its own lines in both formats are read
 * everywhere.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkLinearizability, registerModel } from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { readEdnLog, textStore } from "./ednLog.ts";
import { readJepsenLog } from "./jepsenLog.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "shared", "histories");
const missing =
  `${folder} is missing: no history of others was checked. ` +
  "It holds porcupine's test data, as jepsen-etcd/ and kv/.";
const isThere = existsSync(folder);
if (!isThere) process.stderr.write(`${missing}\n`);

const linearizableRuns = new Set(["002", "005", "007", "018", "025", "031", "038", "045", "048", "049"]);

function filesIn(name: string): string[] {
  return readdirSync(join(folder, name)).sort();
}

function textOf(name: string, file: string): string {
  return readFileSync(join(folder, name, file), "utf8");
}

describe("the checker and other people's histories", () => {
  it("agrees on every run of Jepsen's etcd test", ({ skip }) => {
    if (!isThere) skip(missing);
    const files = filesIn("jepsen-etcd");
    expect(files.length).toBeGreaterThanOrEqual(50);
    let steps = 0;
    for (const file of files) {
      const verdict = checkLinearizability(registerModel(), readJepsenLog(textOf("jepsen-etcd", file)));
      const isGood = linearizableRuns.has(/\d+/.exec(file)?.[0] ?? "");
      expect([file, verdict.kind]).toEqual([file, isGood ? "linearizable" : "illegal"]);
      steps += verdict.effort.steps;
    }
    // A plain Wing-Gong search with Lowe's cache takes two million for the same files.
    expect(steps).toBeLessThan(100_000);
  });

  it("agrees on every key-value history", ({ skip }) => {
    if (!isThere) skip(missing);
    const files = filesIn("kv");
    expect(files.length).toBeGreaterThanOrEqual(4);
    for (const file of files) {
      const verdict = checkLinearizability(textStore, readEdnLog(textOf("kv", file)));
      expect([file, verdict.kind]).toEqual([file, file.includes("-ok") ? "linearizable" : "illegal"]);
    }
  });
});

describe("readJepsenLog", () => {
  const log = (...lines: string[]): string => lines.map((line) => `INFO  jepsen.util - ${line}\n`).join("");

  it("reads what a register does and answers", () => {
    const text = log(
      "0\t:invoke\t:read\tnil",
      "1\t:invoke\t:write\t3",
      "0\t:ok\t:read\tnil",
      "1\t:ok\t:write\t3",
      "0\t:invoke\t:cas\t[3 4]",
      "0\t:ok\t:cas\t[3 4]",
      "1\t:invoke\t:cas\t[3 4]",
      "1\t:fail\t:cas\t[3 4]",
    );
    const cas = { kind: "cas", expected: 3, value: 4 };
    expect(readJepsenLog(text)).toEqual([
      {
        client: "0",
        input: { kind: "get" },
        calledAt: 0,
        end: { kind: "ok", output: { kind: "value" }, at: 2 },
      },
      {
        client: "1",
        input: { kind: "put", value: 3 },
        calledAt: 1,
        end: { kind: "ok", output: { kind: "done" }, at: 3 },
      },
      { client: "0", input: cas, calledAt: 4, end: { kind: "ok", output: { kind: "done" }, at: 5 } },
      { client: "1", input: cas, calledAt: 6, end: { kind: "ok", output: { kind: "refused" }, at: 7 } },
    ]);
  });

  it("takes timeouts and calls without an end for unknown outcomes", () => {
    const text = log(
      "0\t:invoke\t:write\t1",
      "0\t:info\t:write\t:timed-out",
      "1\t:invoke\t:read\tnil",
      "1\t:fail\t:read\t:timed-out",
      "2\t:invoke\t:write\t2",
    );
    expect(readJepsenLog(text).map(({ end }) => end.kind)).toEqual(["unknown", "unknown", "unknown"]);
  });

  it("refuses a line that is none, and an end without a call", () => {
    expect(() => readJepsenLog("hello\n")).toThrow(/not a line/);
    expect(() => readJepsenLog(log("0\t:ok\t:read\t1"))).toThrow(/no call is open/);
  });
});

describe("readEdnLog", () => {
  it("reads gets, puts and appends, with escapes in strings", () => {
    const text = [
      '{:process 1, :type :invoke, :f :append, :key "k", :value "a \\"b\\""}',
      '{:process 1, :type :ok, :f :append, :key "k", :value "a \\"b\\""}',
      '{:process 2, :type :invoke, :f :get, :key "k", :value nil}',
      '{:process 2, :type :ok, :f :get, :key "k", :value "a \\"b\\""}',
      '{:process 3, :type :invoke, :f :put, :key "k", :value "c"}',
      '{:process 3, :type :info, :f :put, :key "k", :value "c"}',
    ].join("\n");
    const history = readEdnLog(text);
    expect(history.map(({ end, input }) => [input.kind, end.kind])).toEqual([
      ["append", "ok"],
      ["get", "ok"],
      ["put", "unknown"],
    ]);
    expect(checkLinearizability(textStore, history).kind).toBe("linearizable");
  });

  it("refuses a line that is no such map", () => {
    expect(() => readEdnLog("{:process 1}")).toThrow(/five fields/);
  });
});
