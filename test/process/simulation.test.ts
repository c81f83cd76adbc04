/** The built command simulates: threads, files and exit codes as a person sees them. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { simulate, writeSchedule } from "@quorate/sim";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../tidy/houseFiles.ts";

const run = promisify(execFile);
const quorate = join(root, "node_modules", ".bin", "quorate");
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "quorate-sim-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function linesOf(args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await run(quorate, ["sim", ...args], { cwd: folder, timeout: 120_000 });
  return stdout.trimEnd().split("\n");
}

describe("quorate sim", () => {
  it("runs seeds in threads, in order, to the trace that they have in this process", async () => {
    const lines = await linesOf(["--seeds", "1..3", "--nodes", "3", "--time", "500ms", "--json"]);
    const objects = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(objects.slice(0, 3).map(({ seed }) => seed)).toEqual([1, 2, 3]);
    expect(Object.keys(objects[3] ?? {})).toEqual([
      "seeds",
      "events",
      "eventsPerS",
      "violations",
      "checkedHistories",
      "marks",
      "traceHash",
    ]);
    const { traceHash } = await simulate({ seed: 2, nodes: 3, durationMs: 500 });
    expect(objects[1]?.traceHash).toBe(traceHash);
  });

  it("replays a file, a line an event, to the same trace hash", async () => {
    const { schedule, traceHash } = await simulate({ seed: 5, nodes: 3, durationMs: 500 });
    const file = join(folder, "run.json");
    await writeFile(file, writeSchedule(schedule));
    const lines = await linesOf(["--replay", file]);
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.at(-1)).toBe(`trace hash ${traceHash}`);
  });

  it("writes a page of one run, whose trace hash it leaves as it is", async () => {
    const lines = await linesOf(["--seed", "5", "--nodes", "3", "--time", "500ms", "--html", "run.html"]);
    const { traceHash } = await simulate({ seed: 5, nodes: 3, durationMs: 500 });
    expect(lines.at(-1)).toBe(`trace hash ${traceHash}`);
    expect(await readFile(join(folder, "run.html"), "utf8")).toContain("<title>Run of seed 5</title>");
  });

  it("refuses a file that is no schedule, with exit code 2", async () => {
    const file = join(folder, "wrong.json");
    await writeFile(
      file,
      (await readFile(join(root, "package.json"), "utf8")).replace("{", '{ "version": 3,'),
    );
    await expect(linesOf(["--replay", file])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"version": 1, but has 3'),
    });
  });
});
