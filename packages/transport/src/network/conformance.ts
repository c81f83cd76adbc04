/**
 * What every network must do, as plain cases: any test runner can run them, against any adapter of the port.
 *
 * A case rejects with a sentence when the adapter breaks the contract. Each makes its own connections and
 * closes them.
 */
import {
  type Answer,
  type Channel,
  type CloseCause,
  ConnectionRefusedError,
  type Hello,
  invariant,
  type Listener,
  type Network,
  QuorateError,
} from "@quorate/raft";

export interface NetworkUnderTest {
  readonly network: Network;
  /** An address that can be listened at, with a port of 0. */
  readonly listenAddress: string;
  /** An address at which nobody listens. */
  readonly deadAddress: string;
  /** Lets the world run until the promise ends; rejects when that takes too long. */
  until<T>(promise: Promise<T>): Promise<T>;
}

export interface NetworkCase {
  /** A sentence: what the network does. */
  readonly name: string;
  run(subject: NetworkUnderTest): Promise<void>;
}

/** One side of a connection that remembers what it was given. */
class Side {
  readonly channel: Channel;
  readonly frames: Uint8Array[] = [];
  ends: { cause: CloseCause; reason: string }[] = [];
  readonly #watchers = new Set<() => void>();

  constructor(channel: Channel) {
    this.channel = channel;
  }

  open(): this {
    this.channel.open({
      frame: (bytes) => {
        invariant(this.ends.length === 0, "no frame comes after the end");
        this.frames.push(Uint8Array.from(bytes));
        this.#notify();
      },
      closed: (cause, reason) => {
        this.ends.push({ cause, reason });
        this.#notify();
      },
    });
    return this;
  }

  has(count: number): Promise<void> {
    return this.#when(() => this.frames.length >= count);
  }

  async ended(): Promise<{ cause: CloseCause; reason: string }> {
    await this.#when(() => this.ends.length > 0);
    return this.ends[0] as { cause: CloseCause; reason: string };
  }

  #when(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const watcher = (): void => {
        if (!holds()) return;
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
      watcher();
    });
  }

  #notify(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}

interface Connection {
  readonly listener: Listener;
  readonly dialled: Side;
  readonly accepted: Side;
  close(): Promise<void>;
}

const never = new AbortController().signal;
const dialOptions = { signal: never, timeoutMs: 5_000 };

async function connect(subject: NetworkUnderTest): Promise<Connection> {
  let taken: ((channel: Channel) => void) | undefined;
  const channel = new Promise<Channel>((resolve) => {
    taken = resolve;
  });
  const accept = (): Answer => ({ kind: "accept", hello: {}, opened: (opened) => taken?.(opened) });
  const listener = await subject.until(subject.network.listen(subject.listenAddress, accept));
  const { channel: near } = await subject.until(subject.network.dial(listener.address, {}, dialOptions));
  const accepted = new Side(await subject.until(channel));
  return {
    listener,
    dialled: new Side(near),
    accepted,
    async close() {
      near.close("the case is over");
      await subject.until(listener.close());
    },
  };
}

async function within(subject: NetworkUnderTest, body: (c: Connection) => Promise<void>): Promise<void> {
  const connection = await connect(subject);
  try {
    await body(connection);
  } finally {
    await connection.close();
  }
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return undefined;
}

function bytes(...values: number[]): Uint8Array {
  return Uint8Array.from(values);
}

const meetingCases: readonly NetworkCase[] = [
  {
    name: "Each side is shown the other's hello before any frame.",
    async run(subject) {
      let shown: Hello | undefined;
      const accept = (hello: Hello): Answer => {
        shown = hello;
        return {
          kind: "accept",
          hello: { role: "answer", "with-dash": "a b" },
          opened: (c) => c.close("done"),
        };
      };
      const listener = await subject.until(subject.network.listen(subject.listenAddress, accept));
      const hello = { role: "asks", empty: "", sign: 'a=b; "c"' };
      const answer = await subject.until(subject.network.dial(listener.address, hello, dialOptions));
      answer.channel.close("done");
      await subject.until(listener.close());
      invariant(same(shown, hello), "the listener sees the dialler's hello", { shown });
      const expected = { role: "answer", "with-dash": "a b" };
      invariant(same(answer.hello, expected), "the dialler sees the answer", { hello: answer.hello });
    },
  },
  {
    name: "A refusal reaches the dialler with its code and its sentence.",
    async run(subject) {
      const reason = "This is not the cluster that you look for: compare the cluster ids.";
      const accept = (): Answer => ({ kind: "refuse", code: "OTHER_CLUSTER", reason });
      const listener = await subject.until(subject.network.listen(subject.listenAddress, accept));
      const error = await subject.until(failure(subject.network.dial(listener.address, {}, dialOptions)));
      await subject.until(listener.close());
      invariant(error instanceof ConnectionRefusedError, "it rejects with the refusal", {
        error: String(error),
      });
      invariant(error.refusal.code === "OTHER_CLUSTER", "the code arrives", { refusal: error.refusal });
      invariant(error.refusal.reason === reason, "the sentence arrives", { refusal: error.refusal });
    },
  },
  {
    name: "Dialling where nobody listens fails with CONNECTION_FAILED.",
    async run(subject) {
      const error = await subject.until(failure(subject.network.dial(subject.deadAddress, {}, dialOptions)));
      invariant(error instanceof QuorateError, "it rejects with a QuorateError", { error: String(error) });
      invariant(error.code === "CONNECTION_FAILED", "the code tells why", { code: error.code });
    },
  },
  {
    name: "Dialling ends at once when it is aborted.",
    async run(subject) {
      const abort = new AbortController();
      const dialling = subject.network.dial(
        subject.deadAddress,
        {},
        { ...dialOptions, signal: abort.signal },
      );
      abort.abort();
      const error = await subject.until(failure(dialling));
      invariant(error instanceof QuorateError, "it rejects with a QuorateError", { error: String(error) });
    },
  },
  {
    name: "An address that is listened at is refused to a second listener.",
    async run(subject) {
      const accept = (): Answer => ({ kind: "refuse", code: "NO", reason: "No." });
      const listener = await subject.until(subject.network.listen(subject.listenAddress, accept));
      const error = await subject.until(failure(subject.network.listen(listener.address, accept)));
      await subject.until(listener.close());
      invariant(error instanceof QuorateError, "it rejects with a QuorateError", { error: String(error) });
      invariant(error.code === "ADDRESS_IN_USE", "the code tells why", { code: error.code });
    },
  },
  {
    name: "After a listener was closed its address can be listened at again.",
    async run(subject) {
      const accept = (): Answer => ({ kind: "refuse", code: "NO", reason: "No." });
      const first = await subject.until(subject.network.listen(subject.listenAddress, accept));
      await subject.until(first.close());
      const second = await subject.until(subject.network.listen(first.address, accept));
      invariant(second.address === first.address, "it is the same address", { address: second.address });
      await subject.until(second.close());
    },
  },
];

const frameCases: readonly NetworkCase[] = [
  {
    name: "Frames of any size arrive whole, once and in order, in both directions.",
    run: (subject) =>
      within(subject, async ({ dialled, accepted }) => {
        const sizes = [0, 1, 125, 126, 65_535, 65_536, 1_000_000];
        const frames = sizes.map((size) => new Uint8Array(size).fill(size % 251));
        dialled.open();
        accepted.open();
        for (const frame of frames) dialled.channel.send(frame);
        for (const frame of frames) accepted.channel.send(frame);
        await subject.until(Promise.all([dialled.has(sizes.length), accepted.has(sizes.length)]));
        for (const side of [dialled, accepted]) {
          invariant(same(side.frames.map(summary), frames.map(summary)), "the same frames arrive");
        }
      }),
  },
  {
    name: "Nothing is delivered before a channel is opened, and nothing of it is lost.",
    run: (subject) =>
      within(subject, async ({ dialled, accepted }) => {
        dialled.open();
        for (let i = 0; i < 100; i += 1) dialled.channel.send(bytes(i));
        accepted.channel.send(bytes(7));
        await subject.until(dialled.has(1));
        invariant(accepted.frames.length === 0, "a channel that is not open delivers nothing");
        accepted.open();
        await subject.until(accepted.has(100));
        invariant(
          accepted.frames.every((frame, i) => frame[0] === i),
          "all of it arrives in order",
        );
      }),
  },
  {
    name: "A frame that was sent does not change on its way.",
    run: (subject) =>
      within(subject, async ({ dialled, accepted }) => {
        const frames = Array.from({ length: 50 }, (_, i) => new Uint8Array(1_000).fill(i));
        dialled.open();
        accepted.open();
        for (const frame of frames) dialled.channel.send(frame);
        await subject.until(accepted.has(50));
        invariant(
          frames.every((frame, i) => frame.every((byte) => byte === i)),
          "the sender's bytes are as they were",
        );
        invariant(
          accepted.frames.every((frame, i) => frame.every((byte) => byte === i)),
          "and so they arrive",
        );
      }),
  },
];

const endCases: readonly NetworkCase[] = [
  {
    name: "What was sent before a close arrives before the end, and both sides learn who closed.",
    run: (subject) =>
      within(subject, async ({ dialled, accepted }) => {
        dialled.open();
        accepted.open();
        dialled.channel.send(bytes(1));
        dialled.channel.close("that was all");
        const far = await subject.until(accepted.ended());
        const near = await subject.until(dialled.ended());
        invariant(accepted.frames.length === 1, "the frame arrives");
        invariant(far.cause === "remote" && far.reason === "that was all", "the other side closed", { far });
        invariant(near.cause === "local", "we closed", { near });
      }),
  },
  {
    name: "A channel ends once, and after that sending and closing do nothing.",
    run: (subject) =>
      within(subject, async ({ dialled, accepted }) => {
        dialled.open();
        accepted.open();
        dialled.channel.close("once");
        dialled.channel.close("twice");
        dialled.channel.send(bytes(1));
        await subject.until(Promise.all([dialled.ended(), accepted.ended()]));
        for (const side of [dialled, accepted]) {
          side.channel.send(bytes(2));
          side.channel.close("again");
        }
        invariant(accepted.frames.length === 0, "nothing that was sent after the close arrives");
        invariant(dialled.ends.length === 1 && accepted.ends.length === 1, "each side ends once");
      }),
  },
  {
    name: "No frame is delivered to a side that has closed.",
    run: (subject) =>
      within(subject, async ({ dialled, accepted }) => {
        dialled.open();
        accepted.open();
        for (let i = 0; i < 10; i += 1) accepted.channel.send(bytes(i));
        dialled.channel.close("no more");
        const seen = dialled.frames.length;
        await subject.until(Promise.all([dialled.ended(), accepted.ended()]));
        invariant(dialled.frames.length === seen, "what comes after our close is dropped");
      }),
  },
  {
    name: "A channel that was never opened can be closed, and the other side learns it.",
    run: (subject) =>
      within(subject, async ({ dialled, accepted }) => {
        dialled.open();
        accepted.channel.close("not wanted");
        const end = await subject.until(dialled.ended());
        invariant(end.cause === "remote", "the other side closed", { end });
      }),
  },
  {
    name: "Closing a listener closes the channels that it accepted.",
    run: (subject) =>
      within(subject, async ({ listener, dialled, accepted }) => {
        dialled.open();
        accepted.open();
        await subject.until(listener.close());
        const [near, far] = await subject.until(Promise.all([dialled.ended(), accepted.ended()]));
        invariant(near.cause === "remote" && far.cause === "local", "the accepting side closed", {
          near,
          far,
        });
        const error = await subject.until(failure(subject.network.dial(listener.address, {}, dialOptions)));
        invariant(error instanceof QuorateError, "and nobody listens there any more", {
          error: String(error),
        });
      }),
  },
];

function summary(frame: Uint8Array): readonly number[] {
  return [frame.length, frame[0] ?? -1, frame.at(-1) ?? -1];
}

function same(left: unknown, right: unknown): boolean {
  const ordered = (_: string, value: unknown): unknown =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort())
      : value;
  return JSON.stringify(left, ordered) === JSON.stringify(right, ordered);
}

export const networkConformance: readonly NetworkCase[] = [...meetingCases, ...frameCases, ...endCases];
