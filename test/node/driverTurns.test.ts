/** When the driver steps its core: for what arrives, and for a deadline that has really come. What leaves together. */
import {
  type AppendRequest,
  asIndex,
  asTerm,
  type Event,
  type LogStore,
  type MemberId,
  type Message,
  memberId,
  type NodeId,
  type ReadPoint,
  votersOnly,
} from "@quorate/raft";
import {
  CoreDriver,
  coreOptions,
  MembershipWaiters,
  resolveRaftOptions,
  Waiters,
} from "@quorate/raft/internal";
import { describe, expect, it } from "vitest";
import { type VirtualClock, virtualClock } from "../transport/world.ts";
import { emptyRestored } from "./restored.ts";

const [self, leader, other] = ["a", "b", "c"].map((name) => memberId(name as NodeId, "0".repeat(16))) as [
  MemberId,
  MemberId,
  MemberId,
];

interface Follower {
  readonly clock: VirtualClock;
  readonly steps: Event[];
  /** When each turn ended. */
  readonly turnsMs: number[];
  readonly sent: { readonly atMs: number; readonly to: MemberId; readonly messages: readonly Message[] }[];
  /** What was done in which order: a send, a write, an entry applied, a change of role told. */
  readonly done: string[];
  /** Why it stopped. */
  readonly failures: unknown[];
  hear(): void;
  receive(from: MemberId, message: Message): void;
  /** A vote is asked for, in the term after ours. */
  askForVote(): void;
  propose(): void;
  read(signal?: AbortSignal): Promise<ReadPoint>;
}

/** `onSend` may throw, and is stopped for it then; else a failure is one of the test. */
function follower(seed: number, onSend?: (messages: readonly Message[]) => void): Follower {
  const clock = virtualClock();
  const steps: Event[] = [];
  const turnsMs: number[] = [];
  const sent: Follower["sent"] = [];
  const done: string[] = [];
  const failures: unknown[] = [];
  const voters = [self, leader, other].map((id) => ({ id, address: `ws://${id}` }));
  const driver = new CoreDriver<void>(
    coreOptions(resolveRaftOptions(), self, seed),
    emptyRestored(votersOnly(voters), { term: asTerm(3) }),
    {
      clock,
      log: { write: async () => void done.push("write") } as unknown as LogStore,
      machine: { apply: () => void done.push("apply") },
      waiters: new Waiters<void>(),
      memberships: new MembershipWaiters(),
      observer: {
        stepped: (_state, event) => void steps.push(event),
        effectsTaken: () => void turnsMs.push(clock.nowMs()),
      },
      options: resolveRaftOptions(),
      snapshotEvent: () => {},
      send(to, messages) {
        onSend?.(messages);
        sent.push({ atMs: clock.nowMs(), to, messages });
        done.push("send");
      },
      roleChanged: ({ role }) => void done.push(role),
      membershipChanged: () => {},
      failed: (error) => {
        failures.push(error);
        if (onSend === undefined) throw error;
      },
    },
  );
  const message = {
    kind: "heartbeat",
    term: asTerm(3),
    session: 1,
    commitIndex: asIndex(0),
    token: 0,
  } as const;
  const receive = (from: MemberId, received: Message): void =>
    driver.push({ kind: "received", from, message: received });
  return {
    clock,
    steps,
    turnsMs,
    sent,
    done,
    failures,
    receive,
    hear: () => driver.push({ kind: "received", from: leader, message }),
    askForVote() {
      const [lastIndex, lastTerm] = [asIndex(0), asTerm(0)];
      const request = { kind: "voteRequest", term: asTerm(4), lastIndex, lastTerm, transfer: true } as const;
      driver.push({ kind: "received", from: other, message: request });
    },
    propose: () => driver.push({ kind: "proposed", id: 1, entry: "command", data: new Uint8Array(1) }),
    read: (signal) => driver.readIndex(signal),
  };
}

/** The last message of its kind that it sent. */
function newest<Kind extends Message["kind"]>(
  { sent }: Follower,
  kind: Kind,
): Extract<Message, { kind: Kind }> {
  const message = sent.flatMap(({ messages }) => messages).findLast((each) => each.kind === kind);
  if (message === undefined) throw new Error(`No ${kind} was sent`);
  return message as Extract<Message, { kind: Kind }>;
}

/** One of the others makes it the leader; gives the append that opens its term, as the last one gets it. */
async function lead(node: Follower): Promise<AppendRequest> {
  const { clock, receive } = node;
  await clock.pass(400);
  receive(leader, { kind: "preVoteResponse", term: newest(node, "preVoteRequest").term, granted: true });
  await clock.pass(1);
  receive(leader, { kind: "voteResponse", term: newest(node, "voteRequest").term, granted: true });
  await clock.pass(1);
  return newest(node, "appendRequest");
}

/** Takes all of it. */
function answerTo({ term, session, prevIndex, entries }: AppendRequest): Message {
  const result = { kind: "matched", matchIndex: asIndex(prevIndex + entries.length) } as const;
  return { kind: "appendResponse", term, session, result };
}

describe("a follower's driver", () => {
  it("takes no turn for a timer that is due before the deadline, which every heartbeat moves on", async () => {
    const { clock, steps, turnsMs, hear } = follower(1);
    const beganMs = clock.nowMs();
    for (let beat = 0; beat < 40; beat += 1) {
      hear();
      await clock.pass(50);
    }
    expect(steps.map(({ kind }) => kind)).toEqual(Array.from({ length: 40 }, () => "received"));
    expect(turnsMs).toEqual(Array.from({ length: 40 }, (_, beat) => beganMs + 50 * beat));
    expect(clock.timers).toBe(1);
  });

  it("gives the others and the disk their work before it tells anybody of a new role", async () => {
    const { clock, done, hear, askForVote } = follower(1);
    hear();
    await clock.pass(1);
    done.length = 0;
    askForVote();
    await clock.pass(1);
    expect(done).toEqual(["write", "follower", "send"]);
  });

  it("asks for votes within the election timeout of the last heartbeat, and not before", async () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const { clock, sent, hear } = follower(seed);
      for (let beat = 0; beat < 10; beat += 1) {
        hear();
        await clock.pass(50);
      }
      const heardMs = clock.nowMs() - 50;
      await clock.pass(400);
      const asked = sent.find(({ messages }) => messages[0]?.kind === "preVoteRequest");
      expect(asked?.atMs).toBeGreaterThanOrEqual(heardMs + 150);
      expect(asked?.atMs).toBeLessThanOrEqual(heardMs + 300);
    }
  });

  it("puts all messages of a turn to one peer into one frame, in their order", async () => {
    const { clock, sent, hear } = follower(1);
    hear();
    hear();
    await clock.pass(0);
    expect(sent.map(({ to, messages }) => [to, messages.map(({ kind }) => kind)])).toEqual([
      [leader, ["heartbeatResponse", "heartbeatResponse"]],
    ]);
  });
});

describe("a leader's driver", () => {
  it("applies what was committed, for whoever waits for its answer, before it tells the others of it", async () => {
    const node = follower(1);
    const { clock, done, receive } = node;
    const append = await lead(node);
    done.length = 0;
    receive(other, answerTo(append));
    await clock.pass(1);
    expect(done.filter((each) => each !== "leader")).toEqual(["apply", "send"]);
    expect(newest(node, "appendRequest")).toMatchObject({ entries: [], commitIndex: append.prevIndex + 1 });
  });

  it("confirms a read in the frame that brings what was proposed with it", async () => {
    const node = follower(1);
    const { clock, sent, receive, propose, read } = node;
    receive(other, answerTo(await lead(node)));
    await clock.pass(1);
    sent.length = 0;
    const point = read();
    propose();
    await clock.pass(1);
    const frames = sent
      .filter(({ to }) => to === other)
      .map(({ messages }) => messages.map(({ kind }) => kind));
    expect(frames).toEqual([["heartbeat", "appendRequest"]]);
    const { term, session, token } = newest(node, "heartbeat");
    receive(other, { kind: "heartbeatResponse", term, session, token });
    await clock.pass(1);
    expect(await point).toMatchObject({ index: 1, asLeader: true });
  });
});

describe("a driver", () => {
  it("shares one read index among those that ask before its turn, and with nobody who comes later", async () => {
    const { clock, steps, read } = follower(1);
    const reads = [read(), read(), read(new AbortController().signal)];
    const ended = Promise.allSettled(reads);
    const asked = (): number => steps.filter(({ kind }) => kind === "readRequested").length;
    await clock.pass(0);
    expect([new Set(reads).size, asked()]).toEqual([2, 2]);
    reads.push(read());
    const last = Promise.allSettled(reads);
    await clock.pass(0);
    expect([new Set(reads).size, asked()]).toEqual([3, 3]);
    for (const { status } of [...(await ended), ...(await last)]) expect(status).toBe("rejected");
  });

  it("stops, and says so, where what it sends afterwards cannot be sent", async () => {
    const broken = new Error("It cannot be encoded.");
    const node = follower(1, ([message]) => {
      if (message?.kind === "appendRequest" && message.entries.length === 0) throw broken;
    });
    node.receive(other, answerTo(await lead(node)));
    await node.clock.pass(1);
    expect(node.failures).toEqual([broken]);
  });
});
