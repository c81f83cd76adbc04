/** One connection on a simulated network, with nothing but numbered frames on it. */
import type { Channel } from "@quorate/raft";
import { World } from "@quorate/sim";

export interface Traffic {
  readonly world: World;
  /** Frames that reached the far side, in order. */
  readonly arrivals: { readonly frame: number; readonly atMs: number }[];
  /** Why the far and the near side ended. */
  ended: string | undefined;
  nearEnded: string | undefined;
  send(frame: number): void;
  dial(): Promise<Channel>;
}

/** `x` has dialled `y`. Between members frames may be lost; a client has a stream. */
export async function traffic(role: "peer" | "client", seed: number = 1): Promise<Traffic> {
  const world = new World(seed, { keptLines: 50 });
  const { network, timeline } = world;
  const near = network.portOf(world.process("x"), "x");
  const far = network.portOf(world.process("y"), "y");
  const arrivals: Traffic["arrivals"][number][] = [];
  const listening = far.listen("ws://y:7101", () => ({
    kind: "accept",
    hello: {},
    opened: (channel) =>
      channel.open({
        frame: (bytes) => arrivals.push({ frame: bytes[0] as number, atMs: timeline.nowMs }),
        closed: (_, reason) => {
          wire.ended = reason;
        },
      }),
  }));
  const dial = async (): Promise<Channel> => {
    const options = { timeoutMs: 5_000, signal: new AbortController().signal };
    return (await near.dial("ws://y:7101", { role }, options)).channel;
  };
  let sending: Channel | undefined;
  const wire: Traffic = {
    world,
    arrivals,
    ended: undefined,
    nearEnded: undefined,
    send: (frame) => sending?.send(Uint8Array.of(frame)),
    dial,
  };
  await world.run(1);
  await listening;
  const dialled = dial();
  await world.run(100);
  sending = await dialled;
  sending.open({
    frame: () => {},
    closed: (_, reason) => {
      wire.nearEnded = reason;
    },
  });
  return wire;
}
