/** The channels that are open now, so that closing can wait until the last of them has ended. */
import type { Channel, ChannelHandlers } from "@quorate/raft";

export class OpenChannels {
  readonly #open = new Set<Channel>();
  #whenNone: (() => void) | undefined;

  /** Opens the channel and keeps it until it has ended. */
  open(channel: Channel, handlers: ChannelHandlers): void {
    this.#open.add(channel);
    channel.open({
      frame: handlers.frame,
      closed: (cause, reason) => {
        this.#open.delete(channel);
        handlers.closed(cause, reason);
        if (this.#open.size === 0) this.#whenNone?.();
      },
    });
  }

  none(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenNone = resolve;
    });
  }
}
