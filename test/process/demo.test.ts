/** The billing demo, played as a user plays it: it ends with the right totals, and leaves nothing behind. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import { quorateCommand } from "./rig/nodeProcess.ts";
import { isAlive } from "./rig/supervisorProcess.ts";
import { until, within } from "./rig/waiting.ts";

interface Played {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly out: () => string;
  readonly errors: () => string;
}

let current: Played | undefined;

function play(): Played {
  const child = spawn(process.execPath, [quorateCommand, "demo", "billing"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const words = { out: "", errors: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    words.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    words.errors += text;
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  current = { child, ended, out: () => words.out, errors: () => words.errors };
  return current;
}

function directories(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith("quorate-demo-"));
}

/** Of the processes that it has started: nodes and schedulers. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").flatMap((word) => (word === "" ? [] : [Number(word)]));
}

afterEach(async () => {
  current?.child.kill("SIGTERM");
  await current?.ended;
});

describe("quorate demo billing", () => {
  it("freezes a leader past its lease, has its late write refused, and charges everybody once", async () => {
    const before = directories();
    const { ended, out, errors } = play();
    expect(await within("the end of the demo", ended, 150_000), errors()).toBe(0);
    expect(errors()).toBe("");
    expect(out()).toMatch(/A has checked its lease, .* freezes \(SIGSTOP\)/);
    expect(out()).toMatch(/A's charge of customer 5 under term \d+ is REFUSED by the database/);
    expect(out()).toMatch(/━+z+╌*/);
    const totals = [...out().matchAll(/In the database: (\d+) charges, (\d+) of 12 .*?, (\d+) of them/g)];
    expect(totals.map(([, ...numbers]) => numbers.map(Number))).toEqual([
      [36, 12, 12],
      [0, 0, 0],
      [13, 12, 1],
      [12, 12, 0],
    ]);
    expect(directories()).toEqual(before);
  });

  it("leaves no process and no directory behind when it is interrupted, a frozen scheduler neither", async ({
    skip,
  }) => {
    if (process.platform !== "linux") skip(`reads /proc, which ${process.platform} does not have`);
    const before = directories();
    const { child, ended, out, errors } = play();
    await until("a scheduler is frozen", () => out().includes("SIGSTOP"), { withinMs: 120_000 });
    const started = childrenOf(child.pid as number);
    expect(started.length).toBe(6);
    child.kill("SIGINT");
    expect(await within("the end of the demo", ended, 20_000)).toBe(1);
    expect(errors()).toMatch(/interrupted/);
    expect(started.filter(isAlive)).toEqual([]);
    expect(directories()).toEqual(before);
  });
});
