/** A network port that tells when anything is sent through it. */
import type { Channel, Network } from "@quorate/raft";

export function sendsSeen(network: Network, sent: () => void): Network {
  const seen = (channel: Channel): Channel => ({
    get bufferedBytes() {
      return channel.bufferedBytes;
    },
    open: (handlers) => channel.open(handlers),
    send(frame) {
      sent();
      channel.send(frame);
    },
    close: (reason) => channel.close(reason),
  });
  return {
    async dial(address, hello, options) {
      const { channel, hello: answer } = await network.dial(address, hello, options);
      return { channel: seen(channel), hello: answer };
    },
    listen: (address, accept) => network.listen(address, accept),
  };
}
