/** WebSocket connections: how they are made, and who is said to have ended them. */
import { once } from "node:events";
import { connect } from "node:net";
import type { Channel } from "@quorate/raft";
import { checkListenAddress, websocketNetwork } from "@quorate/transport";
import { pack } from "@quorate/transport/internal";
import { afterEach, describe, expect, it } from "vitest";
import { certificate, key } from "./certificates.ts";
import {
  closeAll,
  closeOf,
  dialled,
  failure,
  forLong,
  listen,
  never,
  open,
  rawConnection,
  secret,
  server,
  tcpProxy,
} from "./tcp.ts";
import { deadline, until } from "./world.ts";

afterEach(closeAll);

describe("the end of a connection", () => {
  it("is remote for the other side's FIN and for its RST.", async () => {
    const { port, accepted } = await listen();
    for (const end of ["end", "resetAndDestroy"] as const) {
      const { socket } = await rawConnection(port);
      socket[end]();
      const count = end === "end" ? 1 : 2;
      await until(() => accepted[count - 1]?.ends.length === 1, `the end by ${end}`);
      expect(accepted[count - 1]?.ends[0]?.cause).toBe("remote");
    }
  });

  it("is remote for the dialler when the listening side's socket dies.", async () => {
    const proxy = await tcpProxy((await listen()).port);
    const near = await dialled(websocketNetwork(), `ws://127.0.0.1:${proxy.port}`);
    proxy.cut();
    await until(() => near.ends.length === 1, "the end");
    expect(near.ends[0]?.cause).toBe("remote");
  });

  it("comes by itself when the other side goes silent; one that only listens is not silent.", async () => {
    const { port, accepted, listener } = await listen({ pingIntervalMs: 30 });
    const quiet = await dialled(websocketNetwork({ pingIntervalMs: 30 }), listener.address);
    const proxy = await tcpProxy(port);
    const near = await dialled(websocketNetwork({ pingIntervalMs: 30 }), `ws://127.0.0.1:${proxy.port}`);
    proxy.freeze();
    await until(
      () => near.ends.length === 1 && accepted[1]?.ends.length === 1,
      "the end of a silent connection",
    );
    expect(near.ends[0]).toEqual({ cause: "failed", reason: "the other side went silent" });
    expect(accepted[1]?.ends[0]?.cause).toBe("failed");
    expect(quiet.ends).toEqual([]);
    expect(accepted[0]?.ends).toEqual([]);
  });

  it("does not wait for a goodbye that never comes.", async () => {
    const { port, accepted } = await listen({ closeTimeoutMs: 50 });
    const { closed } = await rawConnection(port);
    accepted[0]?.channel.close("enough");
    await until(() => accepted[0]?.ends.length === 1, "our end");
    expect(accepted[0]?.ends).toEqual([{ cause: "local", reason: "enough" }]);
    await deadline(closed);
  });

  it("tells a reason of any length and alphabet, clipped to what a close may carry.", async () => {
    const { network, listener, accepted } = await listen();
    const near = await dialled(network, listener.address);
    near.channel.close("ö".repeat(300));
    await until(() => accepted[0]?.ends.length === 1, "the end");
    expect(accepted[0]?.ends[0]).toEqual({ cause: "remote", reason: "?".repeat(120) });
  });
});

describe("dialling", () => {
  it("ends in time where a socket is taken and nothing is said.", async () => {
    const mute = await server(() => {});
    const error = await failure(
      websocketNetwork().dial(`ws://127.0.0.1:${mute}`, {}, { ...forLong, timeoutMs: 50 }),
    );
    expect(error.code).toBe("CONNECTION_FAILED");
    expect(error.message).toContain("no answer within 50 ms");
  });

  it("ends at once when it is given up, before and during the attempt.", async () => {
    const mute = await server(() => {});
    for (const options of [{}, { secret }]) {
      const abort = new AbortController();
      const dialling = failure(
        websocketNetwork(options).dial(`ws://127.0.0.1:${mute}`, {}, { ...forLong, signal: abort.signal }),
      );
      abort.abort();
      expect((await deadline(dialling)).code).toBe("ABORTED");
      const late = websocketNetwork(options).dial(
        `ws://127.0.0.1:${mute}`,
        {},
        { ...forLong, signal: abort.signal },
      );
      expect((await deadline(failure(late))).code).toBe("ABORTED");
    }
  });

  it("tells something that is no Quorate node from one that refuses.", async () => {
    const web = await server((socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi`));
    const error = await failure(websocketNetwork().dial(`ws://127.0.0.1:${web}`, {}, forLong));
    expect(error.code).toBe("CONNECTION_FAILED");
    expect(error.message).toContain("HTTP 200");
    const babble = await server((socket) => socket.end("220 mail.example ESMTP\r\n"));
    expect((await failure(websocketNetwork().dial(`ws://127.0.0.1:${babble}`, {}, forLong))).code).toBe(
      "CONNECTION_FAILED",
    );
  });

  it("does not follow where it is sent to.", async () => {
    const target = await listen();
    const elsewhere = await server((socket) =>
      socket.end(`HTTP/1.1 302 Found\r\nlocation: ${target.listener.address}\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(
      (await failure(websocketNetwork().dial(`ws://127.0.0.1:${elsewhere}`, {}, forLong))).message,
    ).toContain("HTTP 302");
    expect(target.judged()).toBe(0);
  });

  it("refuses what is no address.", async () => {
    for (const address of [
      "",
      "a:1",
      "http://a:1",
      "ws://a",
      "ws://a:99999",
      "ws://u:p@a:1",
      "ws://a:1/path",
      "ws://a:1?q",
    ]) {
      expect((await failure(websocketNetwork().dial(address, {}, forLong))).code, address).toBe(
        "INVALID_ARGUMENT",
      );
    }
  });
});

describe("listening", () => {
  it("at a port that is taken is refused with a sentence that names the address.", async () => {
    const port = await server(() => {});
    const error = await failure(websocketNetwork().listen(`ws://127.0.0.1:${port}`, () => never));
    expect(error.code).toBe("ADDRESS_IN_USE");
    expect(error.message).toContain(`ws://127.0.0.1:${port}`);
  });

  it("at an address that this machine does not have is refused.", async () => {
    const error = await failure(websocketNetwork().listen("ws://192.0.2.1:0", () => never));
    expect(error.code).toBe("INVALID_OPTIONS");
  });

  it("ends also while connections are half made.", async () => {
    const { listener, port } = await listen();
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write("GET / HTTP/1.1\r\n");
    const closed = closeOf(socket);
    await deadline(listener.close());
    await deadline(closed);
    await deadline(listener.close());
  });

  it("off the loopback takes TLS, a secret, or the word that it is meant to be open.", () => {
    const tls = { cert: certificate, key };
    for (const address of ["ws://127.0.0.1:1", "ws://127.8.9.1:1", "ws://localhost:1", "ws://[::1]:1"]) {
      checkListenAddress(address, {});
    }
    for (const address of [
      "ws://0.0.0.0:1",
      "ws://[::]:1",
      "ws://10.0.0.1:1",
      "ws://example.org:1",
      "ws://127.evil.org:1",
    ]) {
      expect(() => checkListenAddress(address, {}), address).toThrow(/reached from other machines/);
      expect(() => checkListenAddress(address, { tls }), address).toThrow(/reached from other machines/);
      checkListenAddress(address, { secret });
      checkListenAddress(address, { insecure: true });
      checkListenAddress(address.replace("ws:", "wss:"), { tls });
    }
    expect(() => checkListenAddress("wss://10.0.0.1:1", { secret })).toThrow(/certificate/);
  });

  it("with options that contradict each other is refused.", () => {
    expect(() => websocketNetwork({ secret: "short" })).toThrow(/5 characters, and needs at least 16/);
    expect(() => websocketNetwork({ maxFrameBytes: 2 ** 30 })).toThrow(/maxFrameBytes is 1073741824/);
    expect(() => websocketNetwork({ tls: { cert: certificate } })).toThrow(/go together/);
    expect(() => websocketNetwork({ tls: { requireClientCertificate: true } })).toThrow(/authority/);
  });
});

describe("frames that wait for a slow reader", () => {
  it("are counted, and arrive as they were sent, although their makers went on.", async () => {
    const network = websocketNetwork();
    let far: Channel | undefined;
    const listener = await network.listen("ws://127.0.0.1:0", () => ({
      kind: "accept",
      hello: {},
      opened: (channel) => {
        far = channel; // and does not open it: nothing is read
      },
    }));
    open.push(() => listener.close());
    const { channel: near } = await network.dial(listener.address, {}, forLong);
    // The accepting side sends views of packed slabs, unmasked; the dialling side sends masked copies.
    await until(() => far !== undefined, "the accepted channel");
    for (const [sender, receiver] of [
      [far as Channel, near],
      [near, far as Channel],
    ] as const) {
      const count = 10_000;
      for (let i = 0; i < count; i += 1) sender.send(frameOf(i));
      expect(sender.bufferedBytes).toBeGreaterThan(1_000_000);
      let arrived = 0;
      receiver.open({
        frame(bytes) {
          const expected = frameOf(arrived);
          if (Buffer.compare(bytes, expected) !== 0)
            throw new Error(`frame ${arrived} has changed on its way`);
          arrived += 1;
        },
        closed() {},
      });
      await until(() => arrived === count, "all frames");
      expect(sender.bufferedBytes).toBe(0);
    }
  });
});

/** About 1 KiB, different for each number, in a slab that is shared with its neighbours. */
function frameOf(number: number): Uint8Array {
  return pack([number, new Uint8Array(1_000 + (number % 50)).fill(number % 251)]);
}
