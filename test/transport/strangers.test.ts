/** A port of a node against strangers, the careless and the hostile. Everything stays on the loopback. */
import { once } from "node:events";
import { get } from "node:http";
import { ConnectionRefusedError } from "@quorate/raft";
import { websocketNetwork } from "@quorate/transport";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import {
  closeAll,
  closeCode,
  dialled,
  failure,
  forLong,
  listen,
  overTcp,
  rawConnection,
  upgradeRequest,
} from "./tcp.ts";
import { deadline, recordingLogger, until } from "./world.ts";

afterEach(closeAll);

describe("a port, to strangers", () => {
  it("answers a plain HTTP request with a sentence, and offers nothing else.", async () => {
    const { port } = await listen();
    for (const [path, status, sentence] of [
      ["/", 426, /speaks WebSocket/],
      ["/metrics", 404, /no such page/],
    ] as const) {
      const [response] = await once(get({ host: "127.0.0.1", port, path, agent: false }), "response");
      let body = "";
      for await (const part of response) body += part;
      expect([response.statusCode, body]).toEqual([status, expect.stringMatching(sentence)]);
    }
  });

  it("answers garbage with a sentence, and closes.", async () => {
    const { port, judged } = await listen();
    expect(await overTcp(port, "hello?\r\n\r\n")).toMatch(/^HTTP\/1.1 400 .*This port of a Quorate node/s);
    expect(await overTcp(port, Uint8Array.of(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3))).toMatch(
      /^HTTP\/1.1 400 /,
    );
    expect(judged()).toBe(0);
  });

  it("answers headers beyond their bound with a sentence, and closes.", async () => {
    const { port, judged } = await listen();
    expect(await overTcp(port, `GET / HTTP/1.1\r\nx: ${"y".repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1.1 4/);
    expect(judged()).toBe(0);
  });

  it("does not wait long for those who do not say who they are, or say it slowly.", async () => {
    const { port } = await listen({ handshakeTimeoutMs: 200 });
    const beganMs = performance.now();
    const [silent, slow] = await Promise.all([overTcp(port), overTcp(port, "GET / HTTP/1.1\r\nx-slow: ")]);
    expect(silent).toMatch(/^HTTP\/1.1 408 .*took too long/s);
    expect(slow).toMatch(/^HTTP\/1.1 408 .*took too long/s);
    expect(performance.now() - beganMs).toBeLessThan(5_000);
  });

  it("refuses a hello that is none, before it asks the node.", async () => {
    const { port, judged } = await listen();
    const fields = Array.from({ length: 40 }, (_, i) => `x-quorate-f${i}: 1\r\n`).join("");
    const request = upgradeRequest.replace(/\r\n\r\n$/, `\r\n${fields}\r\n`);
    expect(await overTcp(port, request)).toMatch(
      /^HTTP\/1.1 400 .*x-quorate--refusal: HELLO.*at most 24 fields/s,
    );
    expect(judged()).toBe(0);
  });

  it("takes no more connections than it may, and says so.", async () => {
    const { network, listener, accepted } = await listen({ maxConnections: 2 });
    const first = await dialled(network, listener.address);
    await dialled(network, listener.address);
    const error = await failure(network.dial(listener.address, {}, forLong));
    expect(error).toBeInstanceOf(ConnectionRefusedError);
    expect((error as ConnectionRefusedError).refusal).toMatchObject({
      code: "BUSY",
      reason: /2 connections/ as never,
    });
    first.channel.close("making room");
    await until(() => accepted[0]?.ends.length === 1, "the first connection's end");
    await dialled(network, listener.address);
  });
});

describe("a frame", () => {
  it("of 200 MB closes its connection at once; memory stays flat and nobody else notices.", async () => {
    const { port, network, listener, accepted } = await listen();
    const good = await dialled(network, listener.address);
    const { socket, received, closed } = await rawConnection(port);
    const before = process.memoryUsage().rss;
    const header = Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x0b, 0xeb, 0xc2, 0x00, 1, 2, 3, 4]);
    socket.write(header);
    const chunk = Buffer.alloc(1_000_000);
    for (let i = 0; i < 200 && !socket.destroyed && received().length === 0; i += 1) {
      if (!socket.write(chunk)) await Promise.race([once(socket, "drain"), closed]);
    }
    await deadline(closed);
    expect(closeCode(received())).toBe(1009);
    await until(() => accepted[1]?.ends.length === 1, "the end of the bad connection");
    expect(accepted[1]).toMatchObject({ frames: [], ends: [{ cause: "failed" }] });
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
    good.channel.send(Uint8Array.of(7));
    await until(() => accepted[0]?.frames.length === 1, "the good connection's frame");
    expect(good.ends).toEqual([]);
  });

  it("of text closes its connection with code 1003.", async () => {
    const { port, accepted } = await listen();
    const webSocket = new WebSocket(`ws://127.0.0.1:${port}`);
    await once(webSocket, "open");
    webSocket.send("hello");
    const [code] = await deadline(once(webSocket, "close"));
    expect(code).toBe(1003);
    expect(accepted[0]?.frames).toEqual([]);
  });

  it("that breaks the protocol closes its connection, and nobody else notices.", async () => {
    const { port, network, listener, accepted } = await listen();
    const good = await dialled(network, listener.address);
    for (const bytes of [
      [0x82, 0x01, 1], // not masked
      [0xf2, 0x80, 0, 0, 0, 0], // reserved bits
      [0x83, 0x80, 0, 0, 0, 0], // an unknown opcode
      [0x89, 0xfe, 1, 0, 0, 0, 0, 0], // a ping of 256 bytes
    ]) {
      const { socket, received, closed } = await rawConnection(port);
      socket.write(Uint8Array.from(bytes));
      await deadline(closed);
      expect(closeCode(received())).toBe(1002);
    }
    good.channel.send(Uint8Array.of(7));
    await until(() => accepted[0]?.frames.length === 1, "the good connection's frame");
    expect(good.ends).toEqual([]);
  });

  it("that is larger than the other side takes ends the connection, and those before it arrive.", async () => {
    const { listener, accepted } = await listen({ maxFrameBytes: 2_000 });
    const near = await dialled(websocketNetwork(), listener.address);
    near.channel.send(new Uint8Array(2_000));
    await until(() => accepted[0]?.frames.length === 1, "the frame within the bound");
    near.channel.send(new Uint8Array(2_001));
    await until(() => near.ends.length === 1 && accepted[0]?.ends.length === 1, "both ends");
    expect(accepted[0]?.frames).toHaveLength(1);
  });
});

describe("the log", () => {
  it("says nothing above debug about strangers.", async () => {
    const { logger, lines } = recordingLogger();
    const { port } = await listen({ logger });
    await overTcp(port, "garbage\r\n\r\n");
    expect(lines.map(({ level }) => level)).toEqual(["debug"]);
  });
});
