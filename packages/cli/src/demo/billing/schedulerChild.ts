/**
 * A scheduler's process as the story sees it: started, told that it is midnight, frozen, woken, ended. A frozen process
 * cannot end by itself, so that `end` kills it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { CommandFailure, exitCodes } from "../../exitCodes.ts";
import { within } from "../within.ts";
import { midnight, type SchedulerMessage, type SchedulerOrders } from "./month.ts";

const stepMs = 20_000;

type Told = (message: SchedulerMessage) => void;

export class SchedulerChild {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #listeners = new Set<Told>();
  readonly #ended: Promise<void>;
  #errors = "";
  #isEnding = false;

  constructor(orders: SchedulerOrders, told: (name: string, message: SchedulerMessage) => void) {
    this.name = orders.name;
    this.#child = fork(new URL("./schedulerProcess.js", import.meta.url), [JSON.stringify(orders)], {
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-4_000);
    });
    this.#child.on("message", (message) => {
      told(this.name, message as SchedulerMessage);
      for (const listener of this.#listeners) listener(message as SchedulerMessage);
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once("close", () => resolve());
    });
  }

  /** The next message that `is` takes; rejects where the process ends before, with what it said. */
  async next<Message extends SchedulerMessage>(
    what: string,
    is: (message: SchedulerMessage) => message is Message,
  ): Promise<Message> {
    let listener: Told = () => {};
    const message = new Promise<Message>((resolve, reject) => {
      listener = (candidate) => {
        if (is(candidate)) resolve(candidate);
      };
      this.#listeners.add(listener);
      void this.#ended.then(() => {
        const words = this.#isEnding ? "" : this.#errors.trim();
        reject(new CommandFailure(exitCodes.failed, `Scheduler ${this.name} ended before ${what}. ${words}`));
      });
    });
    try {
      return await within(`scheduler ${this.name}: ${what}`, message, stepMs);
    } finally {
      this.#listeners.delete(listener);
    }
  }

  midnight(): void {
    this.#child.send(midnight);
  }

  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  wake(): void {
    this.#child.kill("SIGCONT");
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}

/** For `next`: a message of this kind, and of this customer if one is named. */
export function ofKind<Kind extends SchedulerMessage["kind"]>(kind: Kind, customer?: number) {
  return (message: SchedulerMessage): message is Extract<SchedulerMessage, { kind: Kind }> =>
    message.kind === kind &&
    (customer === undefined || ("customer" in message && message.customer === customer));
}
