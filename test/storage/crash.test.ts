/**
 * Processes that die and disks that fill up: every one comes back as a voter with everything it acknowledged.
 * The processes run the built package, as an installed one does.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { openDirectory } from "@quorate/storage";
import { describe, expect, it } from "vitest";
import { countingRandom } from "./recordedDisk.ts";
import { temporaryDirectory } from "./temporaryDirectory.ts";
import { logOf, nodeA } from "./vocabulary.ts";

const writer = fileURLToPath(new URL("writerProcess.mjs", import.meta.url));

class Lines {
  readonly all: string[] = [];
  private rest = "";
  private waiting: (() => void) | undefined;

  take(text: string): void {
    const parts = (this.rest + text).split("\n");
    this.rest = parts.pop() ?? "";
    this.all.push(...parts);
    this.waiting?.();
  }

  async until(count: number): Promise<void> {
    while (this.all.length < count) {
      await new Promise<void>((resolve) => {
        this.waiting = resolve;
      });
    }
  }
}

function linesOf(child: ChildProcess): Lines {
  const lines = new Lines();
  child.stdout?.setEncoding("utf8").on("data", (text: string) => lines.take(text));
  return lines;
}

/** The last index and k that were acknowledged. */
function lastAck(lines: readonly string[]): readonly [number, number] {
  const [, index = "0", k = "0"] = lines.findLast((line) => line.startsWith("ack "))?.split(" ") ?? [];
  return [Number(index), Number(k)];
}

describe("A process killed with SIGKILL at any moment", () => {
  it("comes back as a voter with every entry that it acknowledged, twenty times over", async () => {
    const directory = temporaryDirectory();
    let acknowledged = 0;
    for (let round = 0; round < 20; round += 1) {
      const child = spawn(process.execPath, [writer, directory, String(1 + (round % 5)), "700"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const lines = linesOf(child);
      const exited = once(child, "close");
      await lines.until(1 + ((round * 37) % 90));
      child.kill("SIGKILL");
      await exited;
      const [opening = ""] = lines.all;
      expect(opening).toMatch(new RegExp(`^open ${round + 1} \\d+ born \\d+ whole$`));
      expect(Number(opening.split(" ")[4])).toBeGreaterThanOrEqual(acknowledged);
      acknowledged = Math.max(acknowledged, lastAck(lines.all)[0]);
    }
    expect(acknowledged).toBeGreaterThan(100);
    const store = await openDirectory(directory, { nodeId: nodeA, random: countingRandom() });
    const { standing } = store;
    const lastIndex = standing.kind === "born" ? standing.restored.lastIndex : 0;
    expect(lastIndex).toBeGreaterThanOrEqual(acknowledged);
    const log = await logOf(store, lastIndex);
    for (const [at, line] of log.entries()) expect(line).toContain(` ${at + 1} ${at + 1} `);
    await store.close();
  }, 180_000);
});

describe("A disk that takes no more", () => {
  it("stops the store, which acknowledges nothing of the failed write and opens whole once there is room", async () => {
    const directory = temporaryDirectory();
    const limited = `ulimit -f 64; exec "${process.execPath}" "${writer}" "${directory}" 1 2000`;
    const child = spawn("bash", ["-c", limited], { stdio: ["ignore", "pipe", "inherit"] });
    const lines = linesOf(child);
    await once(child, "close");
    expect(lines.all.at(-2)).toMatch(
      /^failed STORAGE_FAILED unknown Write \d+ to .* failed \(.*File too large/,
    );
    expect(lines.all.at(-1)).toBe("then same");
    const [index, k] = lastAck(lines.all);
    expect(index).toBeGreaterThan(5);

    const store = await openDirectory(directory, { nodeId: nodeA, random: countingRandom() });
    const { standing } = store;
    expect(standing).toMatchObject({ kind: "born", restored: { floor: undefined } });
    const lastIndex = standing.kind === "born" ? standing.restored.lastIndex : 0;
    expect([index, index + 1]).toContain(lastIndex);
    expect(store.sequence).toBeGreaterThan(k);
    await store.close();
  });
});

describe("Two processes and one directory", () => {
  it("the second is told who has it, and changes nothing; a lock file left by a killed one blocks nobody", async () => {
    const directory = temporaryDirectory();
    const child = spawn(process.execPath, [writer, directory], { stdio: ["ignore", "pipe", "inherit"] });
    const lines = linesOf(child);
    const exited = once(child, "close");
    await lines.until(3);
    const second = openDirectory(directory, { nodeId: nodeA, random: countingRandom() });
    await expect(second).rejects.toMatchObject({
      code: "DIRECTORY_IN_USE",
      message: `Another process (pid ${child.pid}) has ${directory} open; stop it or choose another --data-dir.`,
    });
    const seen = lines.all.length;
    await lines.until(seen + 5);
    child.kill("SIGKILL");
    await exited;
    const store = await openDirectory(directory, { nodeId: nodeA, random: countingRandom() });
    expect(store.standing).toMatchObject({ kind: "born", restored: { floor: undefined } });
    await store.close();
  });
});
