/** A frame that was damaged on its way, which TCP's own sum may let through, never reaches anyone. */
import { once } from "node:events";
import { crc32 } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { closeAll, listen } from "./tcp.ts";
import { deadline, until } from "./world.ts";

afterEach(closeAll);

function sealed(frame: Uint8Array): Buffer {
  const bytes = Buffer.alloc(4 + frame.length);
  bytes.writeUInt32BE(crc32(frame), 0);
  bytes.set(frame, 4);
  return bytes;
}

describe("a damaged frame", () => {
  it("ends its connection, and those before it arrive; wherever the bit flipped.", async () => {
    const whole = sealed(Uint8Array.of(1, 2, 3, 4, 5));
    for (let position = 0; position < whole.length; position += 1) {
      const { port, accepted } = await listen();
      const webSocket = new WebSocket(`ws://127.0.0.1:${port}`);
      await once(webSocket, "open");
      const damaged = Buffer.from(whole);
      damaged[position] = (damaged[position] as number) ^ 0x08;
      webSocket.send(whole);
      webSocket.send(damaged);
      const [code] = await deadline(once(webSocket, "close"));
      expect(code).toBe(1002);
      await until(() => accepted[0]?.ends.length === 1, "the end of the connection");
      expect(accepted[0]?.frames).toEqual([Uint8Array.of(1, 2, 3, 4, 5)]);
    }
  });

  it("that is too short to have a checksum ends its connection too.", async () => {
    const { port, accepted } = await listen();
    const webSocket = new WebSocket(`ws://127.0.0.1:${port}`);
    await once(webSocket, "open");
    webSocket.send(Buffer.of(1, 2, 3));
    const [code] = await deadline(once(webSocket, "close"));
    expect(code).toBe(1002);
    expect(accepted[0]?.frames).toEqual([]);
  });
});
