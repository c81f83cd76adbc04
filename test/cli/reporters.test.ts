/** How a running cluster is told of: JSON lines for programs, sentences for people, a table on a terminal. */
import {
  jsonReporter,
  lineReader,
  lineReporter,
  liveTable,
  type NodeSummary,
  type NodeView,
  type ReporterOutput,
  readableLog,
  reportStatus,
  type SupervisorEvent,
} from "quorate/internal";
import { describe, expect, it } from "vitest";

const ready: SupervisorEvent = {
  kind: "ready",
  endpoints: ["ws://127.0.0.1:7201", "ws://127.0.0.1:7202", "ws://127.0.0.1:7203"],
  nodes: [{ id: "a", pid: 1, endpoint: "ws://127.0.0.1:7201" }],
  dataDir: "/data",
  clusterId: "c1",
  leader: "a",
  term: 2,
};

describe("--json", () => {
  it("prints an event a line on standard output, and the nodes' logs on standard error", () => {
    let out = "";
    let errors = "";
    const report = jsonReporter({ write: (text) => (out += text) }, { write: (text) => (errors += text) });
    report(ready);
    report({ kind: "log", id: "a", line: '{"msg":"words"}' });
    report({ kind: "stopped" });
    const [first, second, rest] = out.split("\n");
    expect(JSON.parse(first ?? "")).toEqual({
      event: "ready",
      endpoints: ready.endpoints,
      nodes: ready.nodes,
      dataDir: "/data",
      clusterId: "c1",
      leader: "a",
      term: 2,
    });
    expect(second).toBe('{"event":"stopped"}');
    expect(rest).toBe("");
    expect(errors).toBe('{"msg":"words"}\n');
  });
});

function linesOf(
  events: readonly SupervisorEvent[],
  basePort: number,
): { lines: string[]; problems: string[] } {
  const lines: string[] = [];
  const problems: string[] = [];
  const out: ReporterOutput = {
    line: (text) => lines.push(text),
    problem: (text) => problems.push(text),
    table: () => {},
  };
  const report = lineReporter(out, { cwd: "/nowhere", basePort });
  for (const event of events) report(event);
  return { lines, problems };
}

describe("the lines for people", () => {
  it("say when the cluster is ready, where, and what to type next", () => {
    const { lines } = linesOf([ready], 7201);
    expect(lines[0]).toMatch(
      /^Ready: ws:\/\/127\.0\.0\.1:7201,ws:\/\/127\.0\.0\.1:7202,ws:\/\/127\.0\.0\.1:7203 /,
    );
    expect(lines.join("\n")).toContain("quorate put greeting hello --endpoints ws://127.0.0.1:7201");
    expect(linesOf([ready], 7101).lines.join("\n")).not.toContain("--endpoints");
  });

  it("say on standard error what went wrong", () => {
    const { lines, problems } = linesOf(
      [
        { kind: "exit", id: "b", pid: 9, code: null, signal: "SIGKILL", message: null },
        { kind: "restart", id: "b", pid: 10, attempt: 1 },
        { kind: "failed", id: "c", message: "The disk is full; make room.", nodesLeft: 2 },
        { kind: "log", id: "a", line: '{"level":40,"msg":"The disk is slow."}' },
      ],
      7101,
    );
    expect(lines).toEqual(["b started again as process 10, attempt 1"]);
    expect(problems).toEqual([
      "b (process 9) was ended by SIGKILL",
      "c is not started again: The disk is full; make room.",
      "2 of the nodes are left. Stop and start the cluster once the cause is gone.",
      "a: The disk is slow.",
    ]);
  });

  it("show a log line's words, and any other line as it is", () => {
    expect(readableLog('{"msg":"words"}')).toBe("words");
    expect(readableLog('{"no":1}')).toBe('{"no":1}');
    expect(readableLog("{broken")).toBe("{broken");
  });
});

/** A terminal of a few lines: understands what the table uses, so that its screen can be compared. */
class Screen {
  readonly columns: number;
  readonly rows: number;
  #lines: string[] = [""];
  writes = 0;

  constructor(columns = 80, rows = 24) {
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): void {
    this.writes += 1;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the terminal's commands
    for (const part of text.split(/(\u001b\[\d*[AJ]|\r|\n)/)) {
      if (part === "\n") this.#lines.push("");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
      else if (/^\u001b\[\d+A$/.test(part)) this.#up(Number.parseInt(part.slice(2), 10));
      else if (part === "\u001b[J" || part === "\r") continue;
      else this.#lines[this.#lines.length - 1] += part;
    }
  }

  /** What follows always clears from there to the end. */
  #up(count: number): void {
    this.#lines.splice(this.#lines.length - 1 - count, count + 1, "");
  }

  get text(): string {
    return this.#lines.join("\n");
  }
}

const view: NodeView = {
  id: "a",
  pid: 7,
  endpoint: "ws://127.0.0.1:7101",
  role: "leader",
  term: 1,
  commitIndex: 3,
  appliedIndex: 3,
  lag: 0,
};
const header = "NODE  ROLE    TERM  COMMIT  APPLIED  LAG  PID  ENDPOINT";

describe("the live table", () => {
  it("is drawn again in place, with what is said above it", () => {
    const screen = new Screen();
    const out = liveTable(screen);
    out.line("Starting");
    out.table([view]);
    out.line("Ready");
    out.table([{ ...view, commitIndex: 4, appliedIndex: 4 }]);
    out.problem("Trouble");
    expect(screen.text.trimEnd().split("\n")).toEqual([
      "Starting",
      "Ready",
      "Trouble",
      header,
      "a     leader  1     4       4        0    7    ws://127.0.0.1:7101",
    ]);
    out.table(undefined);
    expect(screen.text.trimEnd().split("\n")).toEqual(["Starting", "Ready", "Trouble"]);
  });

  it("writes nothing while nothing changes, and is left out where it has no room", () => {
    const screen = new Screen();
    const out = liveTable(screen);
    out.table([view]);
    out.table([view]);
    expect(screen.writes).toBe(1);
    const low = new Screen(80, 2);
    liveTable(low).table([view]);
    expect(low.text).toBe("");
  });
});

describe("the lines of a node's standard error", () => {
  it("are put together from pieces, and cut where they never end", () => {
    const lines: string[] = [];
    const read = lineReader((text) => lines.push(text));
    for (const chunk of ["on", "e\ntwo\n\nthr", "ee\n", "x".repeat(20_000), "\n"]) read(chunk);
    expect(lines).toEqual(["one", "two", "three", "x".repeat(16_384)]);
  });
});

describe("a node's reports to its supervisor", () => {
  it("are sent when something changed, at the same instants on every node", () => {
    let nowMs = 1_700_000_000_120;
    let wake: { delayMs: number; fn: () => void } | undefined;
    const sent: unknown[] = [];
    let summary = { term: 1 } as NodeSummary;
    const lookNow = reportStatus(
      { gone: new Promise(() => {}), send: async (message) => void sent.push(message) },
      () => summary,
      () => nowMs,
      {
        after: (delayMs, fn) => {
          wake = { delayMs, fn };
          return () => {};
        },
      },
    );
    expect(sent).toHaveLength(1);
    expect(wake?.delayMs).toBe(380);
    nowMs += 380;
    wake?.fn();
    expect(sent).toHaveLength(1);
    expect(wake?.delayMs).toBe(500);
    summary = { ...summary, term: 2 };
    lookNow();
    lookNow();
    expect(sent).toEqual([
      { kind: "status", summary: { term: 1 } },
      { kind: "status", summary: { term: 2 } },
    ]);
  });
});
