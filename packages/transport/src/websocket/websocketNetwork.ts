/** The network that nodes and clients really use: WebSockets over TCP or TLS. */
import type { Network } from "@quorate/raft";
import { dialWebSocket } from "./dial.ts";
import { listenWebSocket } from "./listen.ts";
import { Liveness } from "./liveness.ts";
import { resolveOptions, type WebSocketNetworkOptions } from "./options.ts";

/**
 * Connections over WebSocket, `ws://host:port` or `wss://host:port`.
 *
 * Each side shows its hello in HTTP headers, and with a `secret` proves that it knows it, before any frame is
 * decoded. A frame is one binary message of at most `maxFrameBytes` (16 MiB); a larger one, or text, closes
 * its connection and nothing else. A connection over which nothing arrives for three ping intervals (6 s) has
 * failed.
 *
 * Throws `INVALID_OPTIONS` for options that contradict each other.
 */
export function websocketNetwork(options: WebSocketNetworkOptions = {}): Network {
  const resolved = resolveOptions(options);
  const liveness = new Liveness(resolved.pingIntervalMs);
  return {
    dial: (address, hello, dialOptions) => dialWebSocket(address, hello, dialOptions, resolved, liveness),
    listen: (address, accept) => listenWebSocket(address, accept, resolved, liveness),
  };
}
