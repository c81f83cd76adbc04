/**
 * The search for one legal order of the operations of one object, in steps that can be handed out bit by bit.
 *
 * Wing and Gong, Testing and Verifying Concurrent Objects (1993): of the operations that were called before
 * the first return, try each as the next one; where none fits, take the last one back. Lowe, Testing for
 * Linearizability (2017): configurations that were seen are not tried again. Beyond both, where nothing can
 * be lost by it:
 *  - a read that fits is placed at once and for good, since it changes nothing for the others;
 *  - operations without an answer are tried last, never where they change nothing, and of equal ones only the
 *    oldest: they need not be placed at all, and equal ones can change places;
 *  - nor is anything placed behind one of them that would do the same without it: of the orders that are left
 *    out, none has the fewest such operations, and if there is an order, there is one with the fewest;
 *  - the search is done when every answered operation is placed.
 */
import { ConfigurationCache } from "./configurationCache.ts";
import type { MemoryBudget } from "./memoryBudget.ts";
import type { Model } from "./model.ts";
import type { PreparedPart } from "./preparedHistory.ts";
import { illegalStep, noMemory, Transitions } from "./transitions.ts";

export type SearchState = "running" | "linearizable" | "illegal" | "out of memory";

/** The longest legal order that was found, the state after it, and the return that nothing could pass. */
export interface Farthest {
  readonly placed: readonly number[];
  readonly state: number;
  readonly blocked: number;
}

const none = -1;
const wordBits = 5;
const keyHeaderWords = 4;

export class Search<S, I, O> {
  readonly part: PreparedPart<I, O>;
  readonly transitions: Transitions<S, I, O>;
  private readonly cache: ConfigurationCache;
  /**
   * Events of answered operations, doubly linked, in order: 2i + 1 is the call of i, 2i + 2 its return, 0
   * both ends.
   */
  private readonly next: Int32Array;
  private readonly previous: Int32Array;
  /** Whether an operation is placed; unanswered ones have words of their own after `answeredWords`. */
  private readonly placedBits: Int32Array;
  private readonly answeredWords: number;
  /** The closest older unanswered operation of the same sort. */
  private readonly olderTwin: Int32Array;
  private readonly key: Int32Array;
  /**
   * What is placed, in order; and from where: the state and hash before, the highest indexes placed after.
   */
  private readonly stack: Int32Array;
  private readonly stateBefore: Int32Array;
  private readonly hashBefore: Int32Array;
  private readonly highestAnswered: Int32Array;
  private readonly highestUnanswered: Int32Array;
  private depth = 0;
  private state = 0;
  private hash = 0;
  private unplaced: number;
  /** The event that is looked at, or, if `unansweredAt` is one, that operation. */
  private cursor: number;
  private unansweredAt: number = none;
  private best: Farthest = { placed: [], state: 0, blocked: none };

  constructor(model: Model<S, I, O>, part: PreparedPart<I, O>, budget: MemoryBudget) {
    const { answered, operations } = part;
    const count = operations.length;
    this.part = part;
    this.transitions = new Transitions(model, part, budget);
    this.cache = new ConfigurationCache(budget);
    this.next = new Int32Array(2 * answered + 1);
    this.previous = new Int32Array(2 * answered + 1);
    this.answeredWords = (answered + 31) >>> wordBits;
    const words = this.answeredWords + ((count - answered + 31) >>> wordBits);
    this.placedBits = new Int32Array(words);
    this.key = new Int32Array(keyHeaderWords + words);
    this.olderTwin = olderTwins(part);
    this.stack = new Int32Array(count);
    this.stateBefore = new Int32Array(count);
    this.hashBefore = new Int32Array(count);
    this.highestAnswered = new Int32Array(count + 1).fill(none);
    this.highestUnanswered = new Int32Array(count + 1).fill(none);
    this.unplaced = answered;
    this.linkEvents();
    this.cursor = this.next[0] as number;
  }

  /** At most `steps` more attempts to place an operation; `taken` tells how many there were. */
  run(steps: number): { readonly state: SearchState; readonly taken: number } {
    let outcome: SearchState = "running";
    let taken = 0;
    while (outcome === "running") {
      if (this.unplaced === 0) outcome = "linearizable";
      else if (taken === steps) break;
      else if (this.unansweredAt !== none) outcome = this.tryUnanswered(this.unansweredAt);
      else if (this.cursor % 2 === 1) outcome = this.tryAnswered((this.cursor - 1) >>> 1);
      else outcome = this.atReturn((this.cursor - 2) >>> 1);
      taken += 1;
    }
    return { state: outcome, taken };
  }

  /** The operations placed now, in order. */
  get order(): number[] {
    return [...this.stack.subarray(0, this.depth)];
  }

  get farthest(): Farthest {
    return this.best;
  }

  /** Gives back all memory of the search; `order` and `farthest` stay. */
  release(): void {
    this.cache.release();
    this.transitions.release();
  }

  private tryAnswered(operation: number): SearchState {
    const next = this.transitions.next(this.state, operation);
    if (next === noMemory) return "out of memory";
    if (next !== illegalStep && !this.makesLastNeedless(operation, next)) {
      this.place(operation, next);
      const added = this.remember();
      if (added === "full") return "out of memory";
      if (added === "new") return this.fromTheFront();
      this.takeBack();
      // What must come next was tried before, and failed.
      if (this.part.isRead[operation]) return this.deadEnd();
    }
    this.cursor = this.next[2 * operation + 1] as number;
    return "running";
  }

  /**
   * Nothing answered fits before the return of `operation`: now those without an answer that were called
   * before it.
   */
  private atReturn(operation: number): SearchState {
    if (this.depth > this.best.placed.length || this.best.blocked === none) {
      this.best = { placed: this.order, state: this.state, blocked: operation };
    }
    return this.seekUnanswered(this.part.answered) ? "running" : this.deadEnd();
  }

  private tryUnanswered(operation: number): SearchState {
    const twin = this.olderTwin[operation] as number;
    if (twin === none || this.isPlaced(twin)) {
      const next = this.transitions.next(this.state, operation);
      if (next === noMemory) return "out of memory";
      if (next !== this.state && !this.makesLastNeedless(operation, next)) {
        this.place(operation, next);
        const added = this.remember();
        if (added === "full") return "out of memory";
        if (added === "new") return this.fromTheFront();
        this.takeBack();
      }
    }
    return this.seekUnanswered(operation + 1) ? "running" : this.deadEnd();
  }

  /**
   * Goes to the first unanswered operation from `from` on that is not placed and was called before the return
   * at hand.
   */
  private seekUnanswered(from: number): boolean {
    const { callPosition, operations, returnPosition } = this.part;
    const limit = returnPosition[(this.cursor - 2) >>> 1] as number;
    let operation = from;
    while (operation < operations.length && this.isPlaced(operation)) operation += 1;
    if (operation === operations.length || (callPosition[operation] as number) > limit) return false;
    this.unansweredAt = operation;
    return true;
  }

  /**
   * Was an operation without an answer placed last, and `operation` would lead to `next` without it as well?
   */
  private makesLastNeedless(operation: number, next: number): boolean {
    const before = this.depth - 1;
    if (before < 0 || (this.stack[before] as number) < this.part.answered) return false;
    return this.transitions.next(this.stateBefore[before] as number, operation) === next;
  }

  private fromTheFront(): SearchState {
    this.cursor = this.next[0] as number;
    this.unansweredAt = none;
    return "running";
  }

  /** Takes back what was placed last, with every read on the way, to go on behind it. */
  private deadEnd(): SearchState {
    this.unansweredAt = none;
    while (this.depth > 0) {
      const operation = this.takeBack();
      if (this.part.isRead[operation]) continue;
      if (operation < this.part.answered) {
        this.cursor = this.next[2 * operation + 1] as number;
        return "running";
      }
      this.cursor = this.firstReturn();
      if (this.seekUnanswered(operation + 1)) return "running";
    }
    return "illegal";
  }

  private firstReturn(): number {
    let event = this.next[0] as number;
    while (event % 2 === 1) event = this.next[event] as number;
    return event;
  }

  private place(operation: number, next: number): void {
    const { depth } = this;
    this.stack[depth] = operation;
    this.stateBefore[depth] = this.state;
    this.hashBefore[depth] = this.hash;
    const isAnswered = operation < this.part.answered;
    const answeredBefore = this.highestAnswered[depth] as number;
    const unansweredBefore = this.highestUnanswered[depth] as number;
    this.highestAnswered[depth + 1] = isAnswered ? Math.max(answeredBefore, operation) : answeredBefore;
    this.highestUnanswered[depth + 1] = isAnswered
      ? unansweredBefore
      : Math.max(unansweredBefore, operation - this.part.answered);
    this.depth = depth + 1;
    this.state = next;
    this.hash ^= mixed(operation);
    this.flip(operation);
    if (!isAnswered) return;
    this.unlink(2 * operation + 1);
    this.unlink(2 * operation + 2);
    this.unplaced -= 1;
  }

  private takeBack(): number {
    this.depth -= 1;
    const { depth } = this;
    const operation = this.stack[depth] as number;
    this.state = this.stateBefore[depth] as number;
    this.hash = this.hashBefore[depth] as number;
    this.flip(operation);
    if (operation < this.part.answered) {
      this.relink(2 * operation + 2);
      this.relink(2 * operation + 1);
      this.unplaced += 1;
    }
    return operation;
  }

  /**
   * The configuration as a key: its hash, the state, and the words of placed bits without those that are full
   * at the front and empty at the back, which is most of them: operations that overlap lie side by side.
   */
  private remember(): "new" | "seen" | "full" {
    if (this.unplaced === 0) return "new";
    const { key, placedBits } = this;
    const full = ((this.next[0] as number) - 1) >>> (wordBits + 1);
    const answered = ((this.highestAnswered[this.depth] as number) >> wordBits) + 1;
    const unanswered = ((this.highestUnanswered[this.depth] as number) >> wordBits) + 1;
    key[0] = mixed(this.hash ^ Math.imul(this.state, 0x9e3779b1));
    key[1] = this.state;
    key[2] = full;
    key[3] = (Math.max(answered - full, 0) << 16) | unanswered;
    let length = keyHeaderWords;
    for (let word = full; word < answered; word++) key[length++] = placedBits[word] as number;
    for (let word = 0; word < unanswered; word++) {
      key[length++] = placedBits[this.answeredWords + word] as number;
    }
    return this.cache.add(key, length);
  }

  private flip(operation: number): void {
    const word = this.wordOf(operation);
    this.placedBits[word] = (this.placedBits[word] as number) ^ this.bitOf(operation);
  }

  private isPlaced(operation: number): boolean {
    return ((this.placedBits[this.wordOf(operation)] as number) & this.bitOf(operation)) !== 0;
  }

  private wordOf(operation: number): number {
    const { answered } = this.part;
    if (operation < answered) return operation >>> wordBits;
    return this.answeredWords + ((operation - answered) >>> wordBits);
  }

  private bitOf(operation: number): number {
    const { answered } = this.part;
    return 1 << ((operation < answered ? operation : operation - answered) & 31);
  }

  private linkEvents(): void {
    const { answered, callPosition, returnPosition } = this.part;
    const events: { event: number; position: number }[] = [];
    for (let operation = 0; operation < answered; operation++) {
      events.push({ event: 2 * operation + 1, position: callPosition[operation] as number });
      events.push({ event: 2 * operation + 2, position: returnPosition[operation] as number });
    }
    events.sort((left, right) => left.position - right.position);
    let last = 0;
    for (const { event } of events) {
      this.next[last] = event;
      this.previous[event] = last;
      last = event;
    }
    this.next[last] = 0;
    this.previous[0] = last;
  }

  private unlink(event: number): void {
    this.next[this.previous[event] as number] = this.next[event] as number;
    this.previous[this.next[event] as number] = this.previous[event] as number;
  }

  private relink(event: number): void {
    this.next[this.previous[event] as number] = event;
    this.previous[this.next[event] as number] = event;
  }
}

function olderTwins(part: PreparedPart<unknown, unknown>): Int32Array {
  const twins = new Int32Array(part.operations.length).fill(none);
  const lastOf = new Map<number, number>();
  for (let operation = part.answered; operation < twins.length; operation++) {
    const sort = part.sort[operation] as number;
    twins[operation] = lastOf.get(sort) ?? none;
    lastOf.set(sort, operation);
  }
  return twins;
}

/** A fixed random-looking number of an integer (the finaliser of MurmurHash3). */
function mixed(value: number): number {
  let hash = Math.imul(value + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
