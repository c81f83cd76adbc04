/**
 * The positions (index, term, chain value) of the log's most recent entries, in memory.
 *
 * An append needs the last one; a truncation the one before it, which is nearly always recent. Older ones
 * are read back from the store, so memory does not grow with the log.
 */
import { asIndex, asTerm, type Index, invariant } from "@quorate/raft";
import type { Position } from "./stateRecord.ts";

const keptPositions = 8192;

export class Tail {
  /** Positions of `first`, `first` + 1, … : two parallel arrays of plain numbers. */
  private first: number;
  private terms: number[];
  private chains: number[];

  constructor(start: Position) {
    this.first = start.index;
    this.terms = [start.term];
    this.chains = [start.chain];
  }

  get last(): Position {
    const at = this.terms.length - 1;
    return { index: asIndex(this.first + at), term: asTerm(this.terms[at]!), chain: this.chains[at]! };
  }

  /** Undefined where the position is no longer, or not yet, held. */
  at(index: Index): Position | undefined {
    const at = index - this.first;
    if (at < 0 || at >= this.terms.length) return undefined;
    return { index, term: asTerm(this.terms[at]!), chain: this.chains[at]! };
  }

  push(position: Position): void {
    const expected = this.first + this.terms.length;
    invariant(position.index === expected, "positions are consecutive", { expected, index: position.index });
    this.terms.push(position.term);
    this.chains.push(position.chain);
    if (this.terms.length > 2 * keptPositions) this.forget(this.terms.length - keptPositions);
  }

  /** The log begins and ends at `position`, whatever was before. */
  restart(position: Position): void {
    this.first = position.index;
    this.terms = [position.term];
    this.chains = [position.chain];
  }

  /** Ends the log at `position`, held or not. */
  cutTo(position: Position): void {
    const before = position.index - this.first;
    if (before < 0 || before > this.terms.length) {
      this.restart(position);
      return;
    }
    this.terms.length = before;
    this.chains.length = before;
    this.terms.push(position.term);
    this.chains.push(position.chain);
  }

  private forget(count: number): void {
    this.first += count;
    this.terms = this.terms.slice(count);
    this.chains = this.chains.slice(count);
  }
}
