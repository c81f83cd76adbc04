/** A command under a lease: real processes, and a lease whose renewals the test decides. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Holding, runGuarded } from "quorate/internal";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isRunning } from "../process/rig/running.ts";
import { until, within } from "../process/rig/waiting.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "quorate-guarded-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A lease that is held for `ms` from now on, unless it is renewed. */
function holding(ms: number): Holding & { renew(ms: number): void; lose(): void; askFor(): void } {
  let deadlineMs = performance.now() + ms;
  const lost = new AbortController();
  const asked = new AbortController();
  return {
    term: 7,
    signal: lost.signal,
    handoverSignal: asked.signal,
    remainingMs: () => Math.max(0, deadlineMs - performance.now()),
    renew(again) {
      deadlineMs = performance.now() + again;
    },
    lose: () => lost.abort(),
    askFor: () => asked.abort(),
  };
}

function shell(script: string): [string, ...string[]] {
  return ["sh", "-c", script];
}

async function pidIn(file: string): Promise<number> {
  const path = join(folder, file);
  return until(`${file} is there`, () => existsSync(path) && Number(readFileSync(path, "utf8").trim()));
}

const environment = process.env;

describe("a command under a lease", () => {
  it("ends with its own code, or that of its signal, and sees its environment", async () => {
    const forLong = { ...environment, QUORATE_TERM: "7" };
    const words = shell('test "$QUORATE_TERM" = 7 && exit 42');
    expect(await runGuarded(holding(60_000), { words, environment: forLong, graceMs: 100 })).toEqual({
      kind: "exited",
      code: 42,
    });
    const killed = { words: shell("kill -9 $$"), environment, graceMs: 100 };
    expect(await runGuarded(holding(60_000), killed)).toEqual({ kind: "exited", code: 137 });
  });

  it("is passed signals on from before it is there: none ends its guard alone", async () => {
    const before = process.listenerCount("SIGTERM");
    let atStart = before;
    const command = {
      words: shell("exit 0"),
      graceMs: 100,
      get environment() {
        atStart = process.listenerCount("SIGTERM");
        return environment;
      },
    };
    await runGuarded(holding(60_000), command);
    expect([atStart, process.listenerCount("SIGTERM")]).toEqual([before + 1, before]);
  });

  it("that is not there, or cannot be run, is told as env tells it", async () => {
    const missing = { words: [join(folder, "missing")] as [string], environment, graceMs: 100 };
    expect(await runGuarded(holding(60_000), missing)).toMatchObject({ kind: "notStarted", code: 127 });
    const nameless = { words: [""] as [string], environment, graceMs: 100 };
    expect(await runGuarded(holding(60_000), nameless)).toMatchObject({ kind: "notStarted", code: 127 });
    const folderItself = { words: [folder] as [string], environment, graceMs: 100 };
    expect(await runGuarded(holding(60_000), folderItself)).toMatchObject({ kind: "notStarted", code: 126 });
  });

  it("is asked to end before the deadline, and may do so", async () => {
    const script = `trap 'echo asked > ${folder}/asked; exit 0' TERM; while :; do sleep 0.05; done`;
    const lease = holding(1_500);
    expect(await runGuarded(lease, { words: shell(script), environment, graceMs: 700 })).toEqual({
      kind: "lost",
    });
    expect(existsSync(join(folder, "asked"))).toBe(true);
    expect(lease.remainingMs()).toBeGreaterThan(0);
  });

  it("that does not end when asked is killed before the deadline, with what it has started", async () => {
    const script = `trap '' TERM; sleep 60 & echo $! > ${folder}/grandchild; echo $$ > ${folder}/child; wait; sleep 60`;
    const lease = holding(2_500);
    const running = runGuarded(lease, { words: shell(script), environment, graceMs: 500 });
    const [child, grandchild] = [await pidIn("child"), await pidIn("grandchild")];
    try {
      expect([isRunning(child), isRunning(grandchild)]).toEqual([true, true]);
      expect(await within("the end of the command", running, 10_000)).toEqual({ kind: "lost" });
      expect(isRunning(child)).toBe(false);
      await until("what it started is gone", () => !isRunning(grandchild));
    } finally {
      // Where it fails, nobody is left behind, who would hold the output of whoever runs the tests open.
      for (const pid of [child, grandchild]) if (isRunning(pid)) process.kill(pid, "SIGKILL");
    }
  });

  it("runs on as long as the lease is renewed", async () => {
    const lease = holding(300);
    const renewals = setInterval(() => lease.renew(300), 30);
    const words = shell("sleep 1; exit 3");
    try {
      expect(await runGuarded(lease, { words, environment, graceMs: 100 })).toEqual({
        kind: "exited",
        code: 3,
      });
    } finally {
      clearInterval(renewals);
    }
  });

  it("has until the deadline as it was when it was asked, whatever is renewed afterwards", async () => {
    const lease = holding(800);
    const script = `trap 'echo asked > ${folder}/asked' TERM; while :; do sleep 0.02; done`;
    const running = runGuarded(lease, { words: shell(script), environment, graceMs: 400 });
    await until("it was asked to end", () => existsSync(join(folder, "asked")));
    lease.renew(3_600_000);
    try {
      expect(await within("the end of the command", running, 5_000)).toEqual({ kind: "lost" });
    } finally {
      // Where it fails, nobody is left behind.
      lease.lose();
      await running;
    }
  });

  it("is killed at once when the lease is lost", async () => {
    const lease = holding(3_600_000);
    const running = runGuarded(lease, {
      words: shell(`trap '' TERM; echo $$ > ${folder}/child; while :; do sleep 0.05; done`),
      environment,
      graceMs: 100,
    });
    await pidIn("child");
    lease.lose();
    expect(await within("the end of the command", running, 5_000)).toEqual({ kind: "lost" });
  });

  it("is asked to end when somebody asks for the lease, and has as long as it is held", async () => {
    const lease = holding(3_600_000);
    const script = `trap 'sleep 0.3; echo done > ${folder}/done; exit 0' TERM; echo $$ > ${folder}/child; while :; do sleep 0.02; done`;
    const running = runGuarded(lease, { words: shell(script), environment, graceMs: 100 });
    await pidIn("child");
    lease.askFor();
    expect(await within("the end of the command", running, 5_000)).toEqual({ kind: "lost" });
    expect(existsSync(join(folder, "done"))).toBe(true);
  });

  it("that does not end when asked for the lease is killed at its deadline all the same", async () => {
    const lease = holding(2_500);
    const script = `trap '' TERM; echo $$ > ${folder}/child; while :; do sleep 0.02; done`;
    const running = runGuarded(lease, { words: shell(script), environment, graceMs: 100 });
    await pidIn("child");
    lease.askFor();
    expect(await within("the end of the command", running, 5_000)).toEqual({ kind: "lost" });
    expect(lease.remainingMs()).toBeLessThan(100);
  });

  it("whose end is noticed after the deadline was not under the lease, whatever it says", async () => {
    const lease = holding(3_600_000);
    const running = runGuarded(lease, { words: shell("exit 0"), environment, graceMs: 100 });
    // The machine slept, say: no timer noticed the deadline.
    lease.renew(0);
    expect(await running).toEqual({ kind: "lost" });
  });

  it("that may not be signalled is told of, and its end is waited for", async () => {
    const lease = holding(3_600_000);
    const words = shell(`echo $$ > ${folder}/child; sleep 0.5`);
    const running = runGuarded(lease, { words, environment, graceMs: 100 });
    await pidIn("child");
    const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const kill = vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
    });
    try {
      lease.lose();
      expect(await within("the end of the command", running, 5_000)).toEqual({ kind: "lost" });
      expect(String(said.mock.calls[0]?.[0])).toMatch(/cannot be sent SIGKILL \(kill EPERM\)/);
    } finally {
      kill.mockRestore();
      said.mockRestore();
    }
  });
});
