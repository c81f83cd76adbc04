/** Both shipped networks keep the port's contract. */
import { createServer } from "node:net";
import { websocketNetwork } from "@quorate/transport";
import { memoryNetwork, type NetworkUnderTest, networkConformance } from "@quorate/transport/internal";
import { describe, it } from "vitest";
import { deadline } from "./world.ts";

/** An address at which nobody listens: its port was free a moment ago. */
async function deadAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return `ws://127.0.0.1:${port}`;
}

const subjects: Record<string, () => Promise<NetworkUnderTest>> = {
  "the memory network": async () => ({
    network: memoryNetwork(),
    listenAddress: "ws://a:0",
    deadAddress: "ws://nobody:1",
    until: deadline,
  }),
  "the WebSocket network": async () => ({
    network: websocketNetwork(),
    listenAddress: "ws://127.0.0.1:0",
    deadAddress: await deadAddress(),
    until: deadline,
  }),
  "the WebSocket network with a shared secret": async () => ({
    network: websocketNetwork({ secret: "correct horse battery staple" }),
    listenAddress: "ws://127.0.0.1:0",
    deadAddress: await deadAddress(),
    until: deadline,
  }),
};

for (const [name, make] of Object.entries(subjects)) {
  describe(name, () => {
    for (const each of networkConformance) {
      it(each.name, async () => each.run(await make()));
    }
  });
}
