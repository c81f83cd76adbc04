/** A line of the trace: what a member's core was given, and what became of its state. */
import type { Event, MemberId, RaftState, Role } from "@quorate/raft";
import { mixName, mixNumber } from "../world/mix.ts";
import type { TraceLine } from "../world/trace.ts";
import { mixEvent } from "./mixEvent.ts";
import { describeEvent, describeState } from "./words.ts";

/** The numbers of a state: the state itself goes on changing. */
export interface StateSummary {
  readonly role: Role;
  readonly term: number;
  readonly vote: MemberId | undefined;
  readonly isMute: boolean;
  readonly appliedIndex: number;
  readonly commitIndex: number;
  readonly durableIndex: number;
  readonly lastIndex: number;
}

export class CoreStep implements TraceLine, StateSummary {
  readonly role: Role;
  readonly term: number;
  readonly vote: MemberId | undefined;
  readonly isMute: boolean;
  readonly appliedIndex: number;
  readonly commitIndex: number;
  readonly durableIndex: number;
  readonly lastIndex: number;
  private readonly event: Event;

  constructor(event: Event, state: RaftState) {
    this.event = event;
    this.role = state.role;
    this.term = state.currentTerm;
    this.vote = state.vote;
    this.isMute = state.floor !== undefined;
    this.appliedIndex = state.appliedIndex;
    this.commitIndex = state.commitIndex;
    this.durableIndex = state.disk.durableIndex;
    this.lastIndex = state.log.lastIndex;
  }

  mix(hash: number): number {
    let mixed = mixName(mixEvent(hash, this.event), this.role);
    if (this.vote !== undefined) mixed = mixName(mixed, this.vote);
    mixed = mixNumber(mixed, this.isMute ? -this.term : this.term);
    mixed = mixNumber(mixNumber(mixed, this.appliedIndex), this.commitIndex);
    return mixNumber(mixNumber(mixed, this.durableIndex), this.lastIndex);
  }

  words(): string {
    return `${describeEvent(this.event)} ⇒ ${describeState(this)}`;
  }
}
