/**
 * A TCP proxy in front of one node. It reads from each connection's first bytes who is calling, so that every directed
 * link (a → b) can be frozen, reset, delayed, throttled or corrupted by itself.
 *
 * Nodes send only on the connections that they dial: what is done to calls of `a` at the proxy of `b` is done to what
 * `a` says to `b`, and not to what `b` says to `a`.
 */
import { createServer, type Server, Socket } from "node:net";

export type LinkMode =
  /** Bytes pass. */
  | "open"
  /** Bytes are held, in both directions; connections stand, as behind a router that drops everything. */
  | "frozen"
  /** Connections are reset, new ones at once. */
  | "reset";

export interface LinkPolicy {
  readonly mode: LinkMode;
  readonly delayMs: number;
  /** Infinity: as fast as it comes. */
  readonly bytesPerSecond: number;
}

const openPolicy: LinkPolicy = { mode: "open", delayMs: 0, bytesPerSecond: Number.POSITIVE_INFINITY };

/** The caller's name where it is no node. */
export const clientName = "client";

const headEnd = "\r\n\r\n";
const maxHeldBytes = 4 * 1024 * 1024;
const maxHeadBytes = 16 * 1024;

/** One direction of one connection. */
class Pump {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #policy: () => LinkPolicy;
  readonly #held: { bytes: Buffer; dueMs: number }[] = [];
  #heldBytes = 0;
  #freeAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Flip a bit in the next chunk. */
  corruptNext = false;

  constructor(from: Socket, to: Socket, policy: () => LinkPolicy) {
    this.#from = from;
    this.#to = to;
    this.#policy = policy;
    from.on("data", (bytes: Buffer) => this.take(bytes));
  }

  take(bytes: Buffer): void {
    this.#held.push({ bytes, dueMs: performance.now() + this.#policy().delayMs });
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > maxHeldBytes) this.#from.pause();
    this.flow();
  }

  flow(): void {
    const { mode, bytesPerSecond } = this.#policy();
    clearTimeout(this.#timer);
    while (mode === "open") {
      const first = this.#held[0];
      if (first === undefined) return;
      const waitMs = Math.max(first.dueMs, this.#freeAtMs) - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.flow(), waitMs);
        return;
      }
      this.#held.shift();
      this.#heldBytes -= first.bytes.length;
      this.#freeAtMs = performance.now() + (first.bytes.length / bytesPerSecond) * 1_000;
      this.#to.write(this.#corrupted(first.bytes));
      if (this.#heldBytes < maxHeldBytes) this.#from.resume();
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #corrupted(bytes: Buffer): Buffer {
    if (!this.corruptNext || bytes.length < 3) return bytes;
    this.corruptNext = false;
    const damaged = Buffer.from(bytes);
    const at = damaged.length - 2;
    damaged[at] = (damaged[at] as number) ^ 0x10;
    return damaged;
  }
}

interface Call {
  readonly caller: string;
  readonly near: Socket;
  readonly far: Socket;
  readonly forward: Pump;
  readonly backward: Pump;
}

export class LinkProxy {
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #policies = new Map<string, LinkPolicy>();
  readonly #calls = new Set<Call>();
  readonly #unknown = new Set<Socket>();

  constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
  }

  /** What happens from now on to what `caller` says to this proxy's node; other parts of its policy stay. */
  set(caller: string, change: Partial<LinkPolicy>): void {
    this.#policies.set(caller, { ...this.#policyOf(caller), ...change });
    for (const call of this.#calls) {
      if (call.caller !== caller) continue;
      if (this.#policyOf(caller).mode === "reset") this.#reset(call);
      call.forward.flow();
      call.backward.flow();
    }
  }

  /** Damages the next bytes that `caller` sends. False where it has no connection. */
  corruptNext(caller: string): boolean {
    const calls = [...this.#calls].filter((call) => call.caller === caller);
    for (const call of calls) call.forward.corruptNext = true;
    return calls.length > 0;
  }

  async close(): Promise<void> {
    for (const call of [...this.#calls]) this.#reset(call);
    for (const socket of this.#unknown) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #policyOf(caller: string): LinkPolicy {
    return this.#policies.get(caller) ?? openPolicy;
  }

  #accept(near: Socket): void {
    let head = Buffer.alloc(0);
    this.#unknown.add(near);
    near.on("error", () => near.destroy());
    near.on("close", () => this.#unknown.delete(near));
    const read = (bytes: Buffer): void => {
      head = Buffer.concat([head, bytes]);
      if (!head.includes(headEnd) && head.length < maxHeadBytes) return;
      near.off("data", read);
      this.#unknown.delete(near);
      this.#connect(near, callerIn(head.toString("latin1")), head);
    };
    near.on("data", read);
  }

  #connect(near: Socket, caller: string, head: Buffer): void {
    if (this.#policyOf(caller).mode === "reset") {
      near.resetAndDestroy();
      return;
    }
    const far = new Socket().connect(this.#targetPort, "127.0.0.1");
    for (const socket of [near, far]) socket.setNoDelay(true);
    const policy = (): LinkPolicy => this.#policyOf(caller);
    const call: Call = {
      caller,
      near,
      far,
      forward: new Pump(near, far, policy),
      backward: new Pump(far, near, policy),
    };
    this.#calls.add(call);
    call.forward.take(head);
    far.on("error", () => this.#reset(call));
    // Behind a frozen link nobody learns that the other side has gone.
    for (const socket of [near, far]) {
      socket.on("close", () => {
        if (this.#policyOf(caller).mode !== "frozen") this.#reset(call);
        else if (socket === near) this.#reset(call);
      });
    }
  }

  #reset(call: Call): void {
    if (!this.#calls.delete(call)) return;
    call.forward.stop();
    call.backward.stop();
    for (const socket of [call.near, call.far]) socket.resetAndDestroy();
  }
}

/** A node shows its id when it dials; a client shows none. */
function callerIn(head: string): string {
  return /^[^\r\n:]*\bnode:[ \t]*([A-Za-z0-9_-]+)\r$/m.exec(head)?.[1] ?? clientName;
}
