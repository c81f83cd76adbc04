/** A network that counts what goes over it. */
import type { Channel, Network } from "@quorate/raft";

export interface FrameCount {
  sent: number;
  received: number;
  bytes: number;
}

export function countedNetwork(network: Network, count: FrameCount): Network {
  return {
    listen: (address, accept) => network.listen(address, accept),
    async dial(address, hello, options) {
      const dialed = await network.dial(address, hello, options);
      return { ...dialed, channel: counted(dialed.channel, count) };
    },
  };
}

function counted(channel: Channel, count: FrameCount): Channel {
  return {
    get bufferedBytes() {
      return channel.bufferedBytes;
    },
    open(handlers) {
      channel.open({
        frame(bytes) {
          count.received += 1;
          count.bytes += bytes.length;
          handlers.frame(bytes);
        },
        closed: (cause, reason) => handlers.closed(cause, reason),
      });
    },
    send(frame) {
      count.sent += 1;
      count.bytes += frame.length;
      channel.send(frame);
    },
    close: (reason) => channel.close(reason),
  };
}
