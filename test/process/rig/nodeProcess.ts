/**
 * One `quorate node` as a real process: started, killed, stopped, frozen and started again under the same name.
 *
 * No node outlives the test process: what is still there at its exit is killed, each by its own id.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { within, witnesses } from "./waiting.ts";

const root = join(import.meta.dirname, "..", "..", "..");

/** The built command, as an installed package would run it. */
export const quorateCommand: string = join(root, "packages", "cli", "bin", "quorate.js");

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface NodeSpec {
  readonly id: string;
  /** Where it listens. */
  readonly listen: string;
  /** Where the others, and clients, reach it; the same list for all nodes. */
  readonly peers: Readonly<Record<string, string>>;
  /** Joins the cluster of these members instead of founding one with its peers. */
  readonly join?: readonly string[];
  readonly dataDir: string;
  readonly moreArguments?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Turns the command line into another one, such as one below a file-size limit. */
  readonly wrap?: (commandLine: readonly string[]) => readonly string[];
}

const living = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

const maxLogLines = 2_000;
/** Of each node, beside a wait in vain. */
const shownLogLines = 60;

export class NodeProcess {
  readonly spec: NodeSpec;
  #child: ChildProcess | undefined;
  #exited: Promise<Exit> = Promise.resolve({ code: null, signal: null });
  #log: string[] = [];

  constructor(spec: NodeSpec) {
    this.spec = spec;
  }

  get id(): string {
    return this.spec.id;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`Node ${this.id} does not run`);
    return pid;
  }

  /** What it wrote to standard error since its last start. */
  get log(): string {
    return this.#log.join("\n");
  }

  /** How its last run ended. */
  get exited(): Promise<Exit> {
    return this.#exited;
  }

  start(changes: Partial<NodeSpec> = {}): void {
    if (this.#child !== undefined) throw new Error(`Node ${this.id} runs already`);
    const spec = { ...this.spec, ...changes };
    const peers = Object.entries(spec.peers).map(([id, address]) => `${id}=${address}`);
    const cluster = spec.join === undefined ? ["--peers", peers.join(",")] : ["--join", spec.join.join(",")];
    const options = ["--id", spec.id, "--listen", spec.listen, ...cluster];
    const wrap = spec.wrap ?? ((words: readonly string[]) => words);
    const [command, ...words] = wrap([
      process.execPath,
      quorateCommand,
      "node",
      ...options,
      ...["--data-dir", spec.dataDir],
      ...(spec.moreArguments ?? []),
    ]);
    this.#log = [];
    const child = spawn(command as string, words, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, NODE_ENV: "", ...spec.environment },
    });
    this.#follow(child);
  }

  #follow(child: ChildProcess): void {
    this.#child = child;
    living.add(child);
    const tell = (): string => `--- ${this.id}\n${this.#log.slice(-shownLogLines).join("\n")}`;
    witnesses.add(tell);
    let rest = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      this.#log.push(...lines);
      if (this.#log.length > maxLogLines) this.#log.splice(0, this.#log.length - maxLogLines);
    });
    this.#exited = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        living.delete(child);
        witnesses.delete(tell);
        if (this.#child === child) this.#child = undefined;
        if (rest !== "") this.#log.push(rest);
        resolve({ code, signal });
      });
    });
  }

  /** Sends a signal and nothing more: `SIGSTOP` and `SIGCONT` freeze and thaw it. */
  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** Resolves when the process is gone. Also ends one that is frozen. */
  async kill(): Promise<void> {
    if (this.#child === undefined) return;
    this.signal("SIGKILL");
    await this.ended(10_000);
  }

  /** Asks it to stop, as a service manager does. */
  async stop(): Promise<Exit> {
    if (this.#child !== undefined) this.signal("SIGTERM");
    return this.ended();
  }

  /** How the run under way ends. */
  ended(withinMs = 20_000): Promise<Exit> {
    return within(`the end of node ${this.id}`, this.#exited, withinMs);
  }
}
