/**
 * `quorate cluster --json` as a real process, in a process group of its own, as a shell would start it.
 *
 * Its nodes are not its children's children alone: what is left of them after a test is killed by id.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Exit, quorateCommand } from "./nodeProcess.ts";
import { until, within } from "./waiting.ts";

export interface SupervisorEvent {
  readonly event: string;
  readonly [field: string]: unknown;
}

export interface SupervisedNode {
  readonly id: string;
  readonly pid: number;
  readonly endpoint: string;
}

export class SupervisorProcess implements AsyncDisposable {
  readonly events: SupervisorEvent[] = [];
  readonly startedMs: number = performance.now();
  readonly #child: ChildProcess;
  readonly #exited: Promise<Exit>;
  #errors = "";
  #isOver = false;

  constructor(options: readonly string[]) {
    const words = [quorateCommand, "cluster", "--json", ...options];
    this.#child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    let rest = "";
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.events.push(JSON.parse(line) as SupervisorEvent);
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text;
    });
    this.#exited = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => {
        this.#isOver = true;
        resolve({ code, signal });
      });
    });
  }

  get errors(): string {
    return this.#errors;
  }

  /** Every process id that it ever gave to a node. */
  get nodePids(): readonly number[] {
    return this.events.flatMap((event) => {
      const several = (event.nodes as readonly SupervisedNode[] | undefined) ?? [];
      const one = event.event === "restart" ? [event.pid] : [];
      return [...several.map((node) => node.pid), ...one].filter((pid) => typeof pid === "number");
    });
  }

  ended(withinMs = 20_000): Promise<Exit> {
    return within("the end of the supervisor", this.#exited, withinMs);
  }

  /** The first event of this kind from number `from` on. */
  event(kind: string, from = 0, withinMs?: number): Promise<SupervisorEvent> {
    return until(
      `the event "${kind}" among ${this.events.map((seen) => seen.event).join(", ")}; ${this.#errors}`,
      () => {
        const found = this.events.slice(from).find((event) => event.event === kind);
        if (found === undefined && this.#isOver) throw new Error(`It has ended: ${this.#errors}`);
        return found;
      },
      withinMs === undefined ? {} : { withinMs },
    );
  }

  /** Resolves with the nodes, as the ready line tells them. */
  async ready(): Promise<readonly SupervisedNode[]> {
    const event = await this.event("ready");
    return event.nodes as readonly SupervisedNode[];
  }

  /** To the supervisor alone. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** To the whole foreground group, as a terminal does. */
  ctrlC(): void {
    process.kill(-(this.#child.pid as number), "SIGINT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOver) this.signal("SIGTERM");
    await within("the end of the supervisor", this.#exited, 10_000).catch(() => this.signal("SIGKILL"));
    for (const pid of this.nodePids) if (isQuorateNode(pid)) process.kill(pid, "SIGKILL");
  }
}

/** Not so for one that has ended and only waits to be reaped: whoever inherits an orphan may take seconds over it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return stateOf(pid) !== "Z";
}

/** The kernel's letter; undefined where there is no /proc. */
function stateOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat[stat.lastIndexOf(")") + 2];
  } catch {
    return undefined;
  }
}

/** Process ids are given out again: only a process that still is one of ours may be ended. */
function isQuorateNode(pid: number): boolean {
  return isAlive(pid) && commandLineOf(pid).includes(quorateCommand);
}

export function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
