/** A client's end of a connection, in the test's hands, and a server on a node whose Raft does what the test says. */
import { clientHello, readResponses, requestFrames } from "@quorate/client/internal";
import type { RequestBody, Response } from "@quorate/client/protocol";
import {
  type ClientServer,
  createClientServer,
  defaultServerLimits,
  type MachineHost,
  type ServerLimits,
} from "@quorate/kv/internal";
import { type Channel, type ChannelHandlers, type Clock, silentLogger } from "@quorate/raft";
import type { FakeRaftNode } from "./fakeRaftNode.ts";

export class ClientWire implements Channel {
  bufferedBytes = 0;
  closedBecause: string | undefined;
  frames = 0;
  readonly answers: Response[] = [];
  #handlers: ChannelHandlers | undefined;
  #nextId = 1;

  open(handlers: ChannelHandlers): void {
    this.#handlers = handlers;
  }

  send(frame: Uint8Array): void {
    this.frames += 1;
    this.answers.push(...(readResponses(frame) ?? []));
  }

  close(reason: string): void {
    this.closedBecause ??= reason;
  }

  raw(bytes: Uint8Array): void {
    this.#handlers?.frame(bytes);
  }

  /** The id of the first of them. */
  ask(...bodies: RequestBody[]): number {
    return this.askWithin(5_000, ...bodies);
  }

  askWithin(timeoutMs: number, ...bodies: RequestBody[]): number {
    const first = this.#nextId;
    const requests = bodies.map((body) => ({ id: this.#nextId++, timeoutMs, body }));
    for (const frame of requestFrames(requests)) this.raw(frame);
    return first;
  }

  hangUp(): void {
    this.#handlers?.closed("remote", "the client is gone");
  }

  codes(): (string | undefined)[] {
    return this.answers.map(({ body }) => (body.kind === "failed" ? body.failure.code : body.kind));
  }
}

export function serverOf(
  node: FakeRaftNode,
  host: MachineHost,
  clock: Clock,
  limits: Partial<ServerLimits>,
): ClientServer {
  return createClientServer(
    { node, host, clock, logger: silentLogger },
    {
      pid: 42,
      address: "ws://10.0.0.1:7101",
      configuredPeers: { a: "ws://10.0.0.1:7101" },
      heartbeatMs: 50,
      electionTimeoutMinMs: 150,
      electionTimeoutMaxMs: 300,
      limits: { ...defaultServerLimits, ...limits },
    },
  );
}

/** Opens `wire` at the server. */
export function connect<Wire extends ClientWire>(server: ClientServer, wire: Wire): Wire {
  const answer = server.accept(clientHello());
  if (answer.kind === "refuse") throw new Error(answer.reason);
  answer.opened(wire);
  return wire;
}
