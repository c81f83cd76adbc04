/** A recorded run and its page: that the recording is whole, changes nothing, is bounded, and cannot break the page. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  calmProfile,
  eventCount,
  openSimulation,
  RunRecorder,
  type RunRecording,
  recordRun,
  renderPage,
  runFor,
  type Simulation,
  simulate,
} from "@quorate/sim";
import { describe, expect, it } from "vitest";

const everyCut = [
  ["a", "b"],
  ["b", "a"],
  ["a", "c"],
  ["c", "a"],
] as const;

async function partitionedRun(
  maxEvents?: number,
): Promise<{ simulation: Simulation; recording: RunRecording }> {
  const simulation = openSimulation({ seed: 11, nodes: 3, profile: calmProfile });
  const recorder = recordRun(simulation, maxEvents === undefined ? {} : { maxEvents });
  const { cluster, nemesis, workload } = simulation;
  cluster.startAll();
  await runFor(simulation, 5_000, () => cluster.leader() !== undefined);
  nemesis.strike({ kind: "partition", shape: "isolated", cuts: everyCut, forMs: 700 });
  for (let round = 0; round < 20; round += 1) {
    workload.operate();
    await runFor(simulation, 50);
  }
  nemesis.strike({ kind: "crash", node: "b", silent: false, whenWriting: false, forMs: 300 });
  nemesis.strike({ kind: "pause", node: "c", timersFirst: true, forMs: 200 });
  await runFor(simulation, 1_000);
  return { simulation, recording: recorder.recording() };
}

/** The rows of a table as objects. */
function rowsOf<Column extends string>(
  table: Readonly<Record<Column, readonly number[]>>,
): Record<Column, number>[] {
  const names = Object.keys(table) as Column[];
  const [first] = names;
  if (first === undefined) return [];
  return table[first].map(
    (_, at) => Object.fromEntries(names.map((name) => [name, table[name][at]])) as Record<Column, number>,
  );
}

describe("a recorded run", () => {
  it("holds roles, messages, faults, indexes and operations, in the order of time", async () => {
    const { simulation, recording } = await partitionedRun();
    expect(recording.nodes).toEqual(["a", "b", "c"]);
    const states = rowsOf(recording.states);
    expect(states.map(({ atMs }) => atMs)).toEqual(states.map(({ atMs }) => atMs).sort((x, y) => x - y));
    for (const [node, host] of simulation.cluster.hosts.entries()) {
      const last = states.findLast((row) => row.node === node);
      const state = host.member?.state;
      expect([last?.term, last?.commit, last?.applied, last?.last]).toEqual([
        state?.currentTerm,
        state?.commitIndex,
        state?.appliedIndex,
        state?.log.lastIndex,
      ]);
    }
    const messages = rowsOf(recording.messages);
    const arrived = messages.filter(({ arrivedMs }) => arrivedMs >= 0);
    expect(arrived.length).toBeGreaterThan(100);
    expect(arrived.every(({ sentMs, arrivedMs }) => arrivedMs >= sentMs)).toBe(true);
    const ended = rowsOf(recording.operations).filter(({ endMs }) => endMs >= 0);
    const { acknowledged, failed, unknown, reads, readsFailed } = simulation.workload.stats;
    expect(ended.length).toBe(acknowledged + failed + unknown + reads + readsFailed);
    expect(recording.faults.map(({ sentence }) => sentence.split(" ")[0])).toEqual(["partition", "b", "c"]);
  });

  it("holds cuts, crashes and pauses with their beginning and their end", async () => {
    const { recording } = await partitionedRun();
    const spans = rowsOf(recording.intervals).map(({ kind, node, other, startMs, endMs }) => [
      kind,
      recording.nodes[node],
      recording.nodes[other],
      endMs - startMs,
    ]);
    expect(spans).toEqual([
      ...everyCut.map(([from, to]) => [2, from, to, 700]),
      [0, "b", undefined, 300],
      [1, "c", undefined, 200],
    ]);
  });

  it("runs as it would have unrecorded, to the same trace hash", async () => {
    const options = { seed: 21, nodes: 3, durationMs: 1_000 };
    const recorder = new RunRecorder();
    const recorded = await simulate({ ...options, recorder });
    const plain = await simulate(options);
    expect(recorded.traceHash).toBe(plain.traceHash);
    expect(recorded.events).toBe(plain.events);
    expect(eventCount(recorder.recording())).toBeGreaterThan(300);
  });

  it("keeps the newest part when it is longer than its limit, says so, and knows the states it begins with", async () => {
    const { recording } = await partitionedRun(300);
    const { cutBeforeMs = 0 } = recording;
    expect(cutBeforeMs).toBeGreaterThan(0);
    const { states, messages, operations } = recording;
    expect(states.atMs.length + messages.sentMs.length + operations.startMs.length).toBeLessThanOrEqual(303);
    expect(Math.min(...states.atMs, ...messages.sentMs)).toBeGreaterThanOrEqual(cutBeforeMs);
    expect(new Set(states.node).size).toBe(3);
    expect(renderPage(recording)).toContain("is left out");
  });

  it("refuses a limit that holds nothing, and a second run", async () => {
    expect(() => new RunRecorder({ maxEvents: 5 })).toThrow(/at least 100/);
    const simulation = openSimulation({ seed: 1, nodes: 1 });
    const recorder = recordRun(simulation);
    expect(() => recorder.attach(simulation)).toThrow(/one run/);
  });
});

describe("the page of a run", () => {
  it("is one file that loads nothing, and carries the recording unchanged", async () => {
    const { recording } = await partitionedRun();
    const page = renderPage(recording);
    expect(page).not.toMatch(/(?:src|href)="(?!data:)/);
    expect(page).not.toMatch(/^(?:import|export) /m);
    expect(page).toContain("default-src 'none'");
    const data = /<script type="application\/json" id="recording">(.*)<\/script>/.exec(page)?.[1] ?? "";
    expect(JSON.parse(data)).toEqual(recording);
    expect(page.length).toBeLessThan(100_000 + 100 * eventCount(recording));
  });

  it("holds every file of its script, each once", async () => {
    const folder = join(import.meta.dirname, "..", "..", "packages", "sim", "src", "page", "browser");
    const page = renderPage((await partitionedRun()).recording);
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".ts"))) {
      const source = readFileSync(join(folder, file), "utf8");
      for (const [, kind, name] of source.matchAll(/^export (const|function|class) (\w+)/gm)) {
        expect(page.split(new RegExp(`^${kind} ${name}\\b`, "m")), `${kind} ${name} of ${file}`).toHaveLength(
          2,
        );
      }
    }
  });

  it("shows what a run says as text, whatever it says", async () => {
    const { recording } = await partitionedRun();
    const violation = { atMs: 1, invariant: "<b>bold</b>", sentence: "</script><script>alert(1)</script>" };
    const page = renderPage({ ...recording, violations: [violation] });
    expect(page).not.toContain("alert(1)</script>");
    expect(page).not.toContain("<b>bold");
    expect(page).toContain("&lt;b&gt;bold&lt;/b&gt; was violated");
    expect(page.match(/<script/g)).toHaveLength(2);
  });
});
