/** What a node's process is started with, so that it stands still for a short time only. */
import { execFileSync } from "node:child_process";
import { collectorFlags, nodeExecArgv } from "quorate/internal";
import { describe, expect, it } from "vitest";

describe("the process of a node", () => {
  it("has a small young generation, unless its user has decided", () => {
    expect(nodeExecArgv(undefined)).toEqual(["--max-semi-space-size=4"]);
    expect(nodeExecArgv("--max-old-space-size=500")).toEqual(["--max-semi-space-size=4"]);
    expect(nodeExecArgv("--enable-source-maps --max-semi-space-size=16")).toEqual([]);
    expect(nodeExecArgv("--max_semi_space_size=16")).toEqual([]);
  });

  it("is started with options that this version of Node.js knows", () => {
    const program = 'console.log(require("node:v8").getHeapStatistics().heap_size_limit > 0)';
    const started = (argv: readonly string[]): string =>
      execFileSync(process.execPath, [...argv, "-e", program], { encoding: "utf8" });
    expect(started(nodeExecArgv(undefined))).toBe("true\n");
    // On the command line a flag that V8 does not have is an error; set later, it would be passed over in silence.
    expect(started(collectorFlags)).toBe("true\n");
    expect(() => started(["--no-such-flag-of-v8"])).toThrow();
  });
});
