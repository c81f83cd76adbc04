/**
 * What a run tells to whoever records it. One object hangs at the trace, which every part of the simulation knows.
 *
 * Without one nothing is called and nothing computed. An observer must not change what it is shown, must not draw
 * chance, and must not write to the trace: a recorded run has the same hash as one that is not.
 */
import type { Event, PeerMessage, RaftState } from "@quorate/raft";
import type { IntervalKind, OperationKind, Outcome } from "../page/browser/recording.ts";

export interface RunObserver {
  /** The core of `node` took a step, or was started (no event). */
  stepped(node: string, state: RaftState, event?: Event): void;
  /** `from` and `to` are nodes, or members of them. */
  sent(from: string, to: string, message: PeerMessage): void;
  /** `other`: the end of a path that starts at `node`. What does not lie between nodes is not recorded. */
  began(kind: IntervalKind, node: string, other?: string): void;
  ended(kind: IntervalKind, node: string, other?: string): void;
  /** Returns what is to be called, once, with how it ended. */
  operated(client: string, kind: OperationKind, detail: string): (outcome: Outcome) => void;
}
