/** Listeners, dialled channels, and bytes over plain TCP, each closed after its test. */
import { createHash } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import {
  type Answer,
  type Channel,
  type DialOptions,
  type Listener,
  type Network,
  QuorateError,
} from "@quorate/raft";
import { type WebSocketNetworkOptions, websocketNetwork } from "@quorate/transport";
import { expect } from "vitest";
import { deadline, until } from "./world.ts";

export const forLong: DialOptions = { signal: new AbortController().signal, timeoutMs: 5_000 };
export const secret = "correct horse battery staple";

/** What a test leaves open; `closeAll` closes it after the test. */
export const open: (() => unknown)[] = [];

export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

export interface Side {
  readonly channel: Channel;
  readonly frames: Uint8Array[];
  readonly ends: { cause: string; reason: string }[];
}

export function side(channel: Channel): Side {
  const seen: Side = { channel, frames: [], ends: [] };
  channel.open({
    frame: (bytes) => seen.frames.push(Uint8Array.from(bytes)),
    closed: (cause, reason) => seen.ends.push({ cause, reason }),
  });
  return seen;
}

export interface Port {
  readonly network: Network;
  readonly listener: Listener;
  readonly accepted: Side[];
  readonly port: number;
  readonly judged: () => number;
}

export async function listen(
  options: WebSocketNetworkOptions = {},
  address = "ws://127.0.0.1:0",
  judge: () => Answer | undefined = () => undefined,
): Promise<Port> {
  const network = websocketNetwork(options);
  const accepted: Side[] = [];
  let judged = 0;
  const listener = await network.listen(address, () => {
    judged += 1;
    return judge() ?? { kind: "accept", hello: {}, opened: (channel) => accepted.push(side(channel)) };
  });
  open.push(() => listener.close());
  return {
    network,
    listener,
    accepted,
    port: Number(listener.address.split(":").at(-1)),
    judged: () => judged,
  };
}

export async function dialled(network: Network, address: string): Promise<Side> {
  const { channel } = await network.dial(address, { role: "test" }, forLong);
  open.push(() => channel.close("the test is over"));
  return side(channel);
}

/** Sends bytes over plain TCP and gives back all that comes until the other side closes. */
export async function overTcp(port: number, ...parts: (string | Uint8Array)[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  let text = "";
  socket.on("data", (data) => {
    text += data.toString("latin1");
  });
  for (const part of parts) socket.write(part);
  await deadline(closeOf(socket));
  return text;
}

/** When the socket has closed, with an error or without. */
export function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

export async function failure(promise: Promise<unknown>): Promise<QuorateError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(QuorateError);
  return error as QuorateError;
}

export const upgradeRequest = [
  "GET / HTTP/1.1",
  "Host: a",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "",
  "",
].join("\r\n");

/** A connection that passed the upgrade and now speaks bytes as it likes. */
export async function rawConnection(
  port: number,
): Promise<{ socket: Socket; received: () => Buffer; closed: Promise<unknown> }> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  const parts: Buffer[] = [];
  socket.on("data", (data) => parts.push(data));
  const closed = closeOf(socket);
  socket.write(upgradeRequest);
  await until(() => Buffer.concat(parts).includes("\r\n\r\n"), "the answer to the upgrade");
  parts.splice(0);
  open.push(() => socket.destroy());
  return { socket, received: () => Buffer.concat(parts), closed };
}

/** The code in a close frame that a server sent. */
export function closeCode(bytes: Buffer): number {
  return bytes[0] === 0x88 ? bytes.readUInt16BE(2) : -1;
}

export const never: Answer = { kind: "refuse", code: "NO", reason: "No." };

export class WebSocketKey {
  readonly #key: string;
  constructor(request: string) {
    this.#key = /sec-websocket-key: (\S+)/i.exec(request)?.[1] ?? "";
  }
  accept(): string {
    return createHash("sha1").update(`${this.#key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  }
}

/** A TCP server on a free port. */
export async function server(serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const listening: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    serve(socket);
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  open.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => listening.close(resolve));
  });
  return (listening.address() as { port: number }).port;
}

/** Passes on what it gets, until it is frozen or cut. `heard` may replace what the dialler says. */
export async function tcpProxy(
  to: number,
  heard: (data: Buffer) => unknown = () => undefined,
): Promise<{ port: number; freeze: () => void; cut: () => void }> {
  let frozen = false;
  const pairs: [Socket, Socket][] = [];
  const port = await server((near) => {
    const far = connect(to, "127.0.0.1");
    far.on("error", () => {});
    near.on("data", (data) => {
      const changed = heard(data);
      if (!frozen) far.write(changed instanceof Buffer ? changed : data);
    });
    far.on("data", (data) => !frozen && near.write(data));
    near.on("close", () => !frozen && far.destroy());
    far.on("close", () => !frozen && near.destroy());
    open.push(() => far.destroy());
    pairs.push([near, far]);
  });
  return {
    port,
    freeze: () => {
      frozen = true;
    },
    cut: () => {
      for (const [near] of pairs) near.destroy();
    },
  };
}
