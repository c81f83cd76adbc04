/** Shared secrets and certificates: who gets in, who does not, and that words cannot be used twice. */
import { ConnectionRefusedError } from "@quorate/raft";
import { websocketNetwork } from "@quorate/transport";
import { afterEach, describe, expect, it } from "vitest";
import { authority, certificate, key, otherAuthority } from "./certificates.ts";
import {
  closeAll,
  dialled,
  failure,
  forLong,
  listen,
  overTcp,
  secret,
  server,
  tcpProxy,
  WebSocketKey,
} from "./tcp.ts";
import { until } from "./world.ts";

afterEach(closeAll);

describe("a shared secret", () => {
  it("lets in those who know it, and no one else, before anything of them is judged.", async () => {
    const { network, listener, judged, accepted } = await listen({ secret });
    const near = await dialled(network, listener.address);
    near.channel.send(Uint8Array.of(5));
    await until(() => accepted[0]?.frames.length === 1, "a frame");
    for (const other of [websocketNetwork(), websocketNetwork({ secret: `${secret}!` })]) {
      const error = await failure(other.dial(listener.address, {}, forLong));
      expect(error).toBeInstanceOf(ConnectionRefusedError);
      expect((error as ConnectionRefusedError).refusal.code).toBe("SECRET");
    }
    expect(judged()).toBe(1);
  });

  it("is asked of the listener too.", async () => {
    const { listener } = await listen();
    const error = await failure(websocketNetwork({ secret }).dial(listener.address, {}, forLong));
    expect(error.code).toBe("REFUSED");
    expect(error.message).toContain("does not ask for a shared secret");
  });

  it("is not proven by a listener that repeats what it hears.", async () => {
    const impostor = await server((socket) => {
      socket.on("data", (data) => {
        const text = data.toString();
        const proof = /x-quorate--proof: (\w+)/i.exec(text)?.[1];
        if (proof === undefined) {
          socket.end(
            `HTTP/1.1 401 No\r\nx-quorate--challenge: ${"0".repeat(32)}\r\ncontent-length: 0\r\n\r\n`,
          );
          return;
        }
        const accept = new WebSocketKey(text).accept();
        socket.write(
          "HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
            `Sec-WebSocket-Accept: ${accept}\r\n` +
            `x-quorate--proof: ${proof}\r\n\r\n`,
        );
      });
    });
    const error = await failure(websocketNetwork({ secret }).dial(`ws://127.0.0.1:${impostor}`, {}, forLong));
    expect(error.message).toContain("does not know our shared secret");
  });

  it("is not proven twice by the same words, nor with another hello.", async () => {
    const { network, listener, port, judged } = await listen({ secret });
    const said: string[] = [];
    const ear = await tcpProxy(port, (data) => said.push(data.toString("latin1")));
    await dialled(network, `ws://127.0.0.1:${ear.port}`);
    const request = said.find((text) => text.includes("x-quorate--proof")) ?? "";
    expect(judged()).toBe(1);
    expect(await overTcp(port, request)).toMatch(/^HTTP\/1.1 401 .*did not prove/s);

    // Fresh words, but with a hello that they were not made for.
    said.splice(0);
    const forger = await tcpProxy(port, (data) => {
      const text = data.toString("latin1");
      if (!text.includes("x-quorate--proof")) return undefined;
      return Buffer.from(text.replace("x-quorate-role: test", "x-quorate-role: peer"), "latin1");
    });
    const error = await failure(network.dial(`ws://127.0.0.1:${forger.port}`, { role: "test" }, forLong));
    expect(error).toBeInstanceOf(ConnectionRefusedError);
    expect(judged()).toBe(1);
    await dialled(network, listener.address);
  });
});

describe("TLS", () => {
  const tls = { cert: certificate, key, ca: authority };

  it("carries frames, and goes together with a secret.", async () => {
    for (const options of [{ tls }, { tls, secret }]) {
      const { listener, accepted } = await listen(options, "wss://127.0.0.1:0");
      expect(listener.address).toMatch(/^wss:/);
      const withCa = { ...options, tls: { ca: authority } };
      const near = await dialled(websocketNetwork(withCa), listener.address);
      near.channel.send(new Uint8Array(100_000));
      await until(() => accepted[0]?.frames[0]?.length === 100_000, "the frame");
    }
  });

  it("refuses a listener whose certificate the dialler's authority did not sign.", async () => {
    const { listener, judged } = await listen({ tls }, "wss://127.0.0.1:0");
    for (const options of [{}, { tls: { ca: otherAuthority } }]) {
      expect((await failure(websocketNetwork(options).dial(listener.address, {}, forLong))).code).toBe(
        "CONNECTION_FAILED",
      );
    }
    const plain = listener.address.replace("wss:", "ws:");
    expect((await failure(websocketNetwork().dial(plain, {}, forLong))).code).toBe("CONNECTION_FAILED");
    expect(judged()).toBe(0);
  });

  it("refuses a dialler without a certificate, where one is required.", async () => {
    const mutual = { tls: { ...tls, requireClientCertificate: true } };
    const { listener, judged } = await listen(mutual, "wss://127.0.0.1:0");
    await failure(websocketNetwork({ tls: { ca: authority } }).dial(listener.address, {}, forLong));
    expect(judged()).toBe(0);
    await dialled(websocketNetwork(mutual), listener.address);
    expect(judged()).toBe(1);
  });
});
