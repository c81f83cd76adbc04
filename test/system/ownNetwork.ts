/**
 * Three hosts on a switch, as network namespaces of the kernel: each node has an address and a wire of its own. An
 * unplugged wire is a true black hole: packets go nowhere, and nobody is told.
 */
import { execFileSync } from "node:child_process";

const subnet = "10.77.0";

export class OwnNetwork implements Disposable {
  readonly #prefix = `quorate-${process.pid}`;
  readonly #hosts: readonly string[];

  constructor(hosts: readonly string[]) {
    this.#hosts = hosts;
    try {
      this.#make();
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  addressOf(host: string): string {
    return `${subnet}.${this.#hosts.indexOf(host) + 1}`;
  }

  /** A command line that runs on that host; `switch` is a host of its own, which is never unplugged. */
  on(host: string): (commandLine: readonly string[]) => readonly string[] {
    return (commandLine) => ["ip", "netns", "exec", this.#namespace(host), ...commandLine];
  }

  unplug(host: string): void {
    this.#ip("-n", this.#namespace("switch"), "link", "set", `to-${host}`, "down");
  }

  plug(host: string): void {
    this.#ip("-n", this.#namespace("switch"), "link", "set", `to-${host}`, "up");
  }

  [Symbol.dispose](): void {
    for (const host of [...this.#hosts, "switch"]) {
      try {
        this.#ip("netns", "del", this.#namespace(host));
      } catch {
        // It was never made.
      }
    }
  }

  #make(): void {
    const hub = this.#namespace("switch");
    this.#ip("netns", "add", hub);
    for (const words of [
      ["link", "add", "bridge", "type", "bridge"],
      ["link", "set", "bridge", "up"],
      ["link", "set", "lo", "up"],
      ["addr", "add", `${subnet}.254/24`, "dev", "bridge"],
    ]) {
      this.#ip("-n", hub, ...words);
    }
    for (const host of this.#hosts) {
      const own = this.#namespace(host);
      this.#ip("netns", "add", own);
      this.#ip("-n", hub, "link", "add", `to-${host}`, "type", "veth", "peer", "name", "eth0", "netns", own);
      this.#ip("-n", hub, "link", "set", `to-${host}`, "master", "bridge", "up");
      this.#ip("-n", own, "addr", "add", `${this.addressOf(host)}/24`, "dev", "eth0");
      this.#ip("-n", own, "link", "set", "eth0", "up");
      this.#ip("-n", own, "link", "set", "lo", "up");
    }
  }

  #namespace(host: string): string {
    return `${this.#prefix}-${host}`;
  }

  #ip(...words: readonly string[]): void {
    execFileSync("ip", words, { stdio: ["ignore", "ignore", "pipe"] });
  }
}
