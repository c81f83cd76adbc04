/** A leader that does what the test says, and the clock that ends its silent sessions, in virtual time. */
import { type Command, encodeProposal } from "@quorate/client/protocol";
import { createMachineHost, type MachineHost, SessionClock } from "@quorate/kv/internal";
import { silentLogger } from "@quorate/raft";
import { type ManyTimers, manyTimers } from "../client/manyTimers.ts";
import { expiredBy } from "./expiries.ts";
import { FakeRaftNode } from "./fakeRaftNode.ts";

export const ttlMs = 4_000;
export const heartbeatMs = 50;
/** Sessions in one entry, and two of these at a time. */
export const portion = 8;

export class SessionScene {
  readonly clock: ManyTimers = manyTimers();
  readonly host: MachineHost = createMachineHost();
  readonly node: FakeRaftNode = new FakeRaftNode(this.host.machine);

  start(): SessionClock {
    const { clock, host, node } = this;
    const made = new SessionClock(
      { node, clock, logger: silentLogger, store: host.store },
      { heartbeatMs, electionTimeoutMinMs: 150, maxExpiriesAtOnce: portion, maxExpiriesUnderWay: 2 },
    );
    host.onSessionOpened = (session) => made.opened(session);
    return made;
  }

  commit(command: Command): number {
    const { result } = this.node.commit(encodeProposal({ origin: { kind: "anonymous" }, command }));
    return result.kind === "sessionOpened" ? result.session : 0;
  }

  open(): number {
    return this.commit({ kind: "openSession", ttlMs });
  }

  /** With the sequence `n` of that session. */
  attach(session: number, n: number, key: string): void {
    const origin = { kind: "session", session, sequence: n, ackedBelow: n } as const;
    const value = new Uint8Array(1);
    const write = { key, value, format: "bytes", condition: { kind: "none" }, attached: true } as const;
    this.node.commit(encodeProposal({ origin, command: { kind: "put", ...write } }));
  }

  expiries(): number[] {
    return this.node.proposed.flatMap(expiredBy);
  }

  /** What else is proposed goes through. */
  onExpiry(react: () => Promise<void> | undefined): void {
    const { node } = this;
    node.onPropose = () => (expiredBy(node.proposed.at(-1)).length > 0 ? react() : undefined);
  }
}
