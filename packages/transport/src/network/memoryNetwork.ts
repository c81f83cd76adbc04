/**
 * A network inside one process: for users' unit tests, for examples, and to test everything above it without
 * sockets.
 *
 * It keeps the port's contract and nothing misbehaves on it; the simulator has a network of its own for that.
 * Frames are handed over without a copy, in a later turn than the one that sent them.
 */
import {
  type Answer,
  type Channel,
  type ChannelHandlers,
  type CloseCause,
  ConnectionRefusedError,
  type DialOptions,
  type Hello,
  type Listener,
  type Network,
  QuorateError,
} from "@quorate/raft";
import { formatAddress, parseAddress } from "./address.ts";
import { checkHello } from "./helloFields.ts";

export interface MemoryNetworkOptions {
  /** Runs `fn` in a later turn, in order. Default: `setImmediate`. */
  readonly defer?: (fn: () => void) => void;
}

type Listening = { readonly accept: (hello: Hello) => Answer; readonly channels: Set<MemoryChannel> };

const firstFreePort = 49_152;

/** One network; nodes that share it can reach each other at any address that one of them listens at. */
export function memoryNetwork(options: MemoryNetworkOptions = {}): Network {
  const defer = options.defer ?? ((fn) => void setImmediate(fn));
  const listening = new Map<string, Listening>();
  let nextPort = firstFreePort;

  return {
    async dial(address, hello, dialOptions) {
      checkHello(hello);
      await turn(defer, dialOptions);
      const listener = listening.get(formatAddress(parseAddress(address)));
      if (listener === undefined) {
        throw new QuorateError("CONNECTION_FAILED", `Nobody listens at ${address}.`, { retryable: true });
      }
      const answer = listener.accept(hello);
      if (answer.kind === "refuse") throw new ConnectionRefusedError(address, answer);
      checkHello(answer.hello);
      const [near, far] = pair(defer);
      listener.channels.add(far);
      far.onEnd = () => listener.channels.delete(far);
      answer.opened(far);
      return { channel: near, hello: answer.hello };
    },

    async listen(address, accept): Promise<Listener> {
      const parsed = parseAddress(address);
      const port = parsed.port === 0 ? nextPort++ : parsed.port;
      const real = formatAddress({ ...parsed, port });
      if (listening.has(real)) {
        throw new QuorateError("ADDRESS_IN_USE", `Cannot listen at ${real}: it is in use on this network.`);
      }
      const channels = new Set<MemoryChannel>();
      listening.set(real, { accept, channels });
      return {
        address: real,
        async close() {
          if (listening.get(real)?.channels === channels) listening.delete(real);
          for (const channel of [...channels]) channel.close("the listener was closed");
        },
      };
    },
  };
}

/** Waits for the next turn, as a real network would at least. */
function turn(defer: (fn: () => void) => void, { signal }: DialOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    defer(() => {
      if (signal.aborted) reject(new QuorateError("ABORTED", "The connection was given up before it stood."));
      else resolve();
    });
  });
}

function pair(defer: (fn: () => void) => void): [MemoryChannel, MemoryChannel] {
  const near = new MemoryChannel(defer);
  const far = new MemoryChannel(defer);
  near.other = far;
  far.other = near;
  return [near, far];
}

type Arrival =
  | { readonly kind: "frame"; readonly frame: Uint8Array }
  | { readonly kind: "end"; readonly cause: CloseCause; readonly reason: string };

class MemoryChannel implements Channel {
  other: MemoryChannel | undefined;
  /** For the listener that keeps it. */
  onEnd: () => void = () => {};
  /** Sent by this side and not yet taken by the other. */
  bufferedBytes = 0;
  readonly #defer: (fn: () => void) => void;
  #handlers: ChannelHandlers | undefined;
  #arrivals: Arrival[] = [];
  #scheduled = false;
  /** The end is among the arrivals, or was: nothing is sent or taken any more. */
  #ending = false;

  constructor(defer: (fn: () => void) => void) {
    this.#defer = defer;
  }

  open(handlers: ChannelHandlers): void {
    this.#handlers = handlers;
    this.#schedule();
  }

  send(frame: Uint8Array): void {
    if (this.#ending) return;
    this.bufferedBytes += frame.length;
    this.other?.take({ kind: "frame", frame });
  }

  close(reason: string): void {
    if (this.#ending) return;
    this.#arrivals = []; // what we did not read before we closed, we never read
    this.take({ kind: "end", cause: "local", reason });
    this.other?.take({ kind: "end", cause: "remote", reason });
  }

  take(arrival: Arrival): void {
    if (this.#ending) return;
    if (arrival.kind === "end") {
      this.#ending = true;
      this.onEnd();
    }
    this.#arrivals.push(arrival);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#handlers === undefined || this.#arrivals.length === 0) return;
    this.#scheduled = true;
    this.#defer(() => this.#deliver());
  }

  #deliver(): void {
    this.#scheduled = false;
    for (let next = this.#arrivals.shift(); next !== undefined; next = this.#arrivals.shift()) {
      if (next.kind === "end") {
        this.bufferedBytes = 0;
        this.#handlers?.closed(next.cause, next.reason);
      } else {
        if (this.other !== undefined) this.other.bufferedBytes -= next.frame.length;
        this.#handlers?.frame(next.frame);
      }
    }
  }
}
