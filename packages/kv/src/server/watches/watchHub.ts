/**
 * Tells the watches of a node what changes, in order, each revision whole and once.
 *
 * Live watches are told in the turn in which an entry is applied. Those that are behind, since they begin in the past
 * or had no room, are told from the history, **all of them in one walk**, a portion a turn; when it reaches the present
 * they are live. So thousands that come back at once after a node's death cost one walk, not one each.
 *
 * A watch is never told an older revision than before: one that begins later than this node has applied waits.
 */
import type { ResponseBody } from "@quorate/client/protocol";
import type { Clock } from "@quorate/raft";
import { type PairChange, type RevisionRecord, recordsAfter, type StoreState } from "../../machine/index.ts";
import type { ServedWatch } from "./servedWatch.ts";
import { WatchIndex } from "./watchIndex.ts";

export interface WatchHubPorts {
  readonly clock: Clock;
  /** As it is now: another one after a snapshot was installed. */
  readonly store: () => StoreState;
}

/** Watches that are told from the history together. */
interface Walk {
  readonly watches: WatchIndex<ServedWatch>;
  /** Told them, as far as each wanted it: all up to this revision. */
  at: number;
}

/** Revisions that one turn looks at, and the changes of them after which it ends. */
const maxRecordsPerTurn = 1_024;
const maxChangesPerTurn = 4_096;

export class WatchHub {
  readonly #ports: WatchHubPorts;
  readonly #live: WatchIndex<ServedWatch> = new WatchIndex();
  /** Live watches have been told all up to here. */
  #position: number;
  #walk: Walk | undefined;
  /** Have room, and wait for the next walk. */
  readonly #waiting: Set<ServedWatch> = new Set();
  /** Have no room. */
  readonly #parked: Set<ServedWatch> = new Set();
  #isTurnDeferred = false;
  #isStopped = false;

  constructor(ports: WatchHubPorts) {
    this.#ports = ports;
    this.#position = ports.store().revision;
  }

  /** Watches that have begun and are not over. */
  get size(): number {
    return this.#live.size + (this.#walk?.watches.size ?? 0) + this.#waiting.size + this.#parked.size;
  }

  /** An entry was applied. In the same turn. */
  applied(): void {
    const { revision, history, pairs } = this.#ports.store();
    if (revision === this.#position) return;
    if (this.#live.size > 0) {
      for (const record of recordsAfter(history, pairs, this.#position)) this.#tell(record, this.#live);
    }
    this.#position = revision;
  }

  /** The whole state was replaced, by a later one: a snapshot was installed. */
  replaced(): void {
    const told = this.#position;
    this.#position = this.#ports.store().revision;
    for (const watch of [...this.#live]) {
      this.#live.remove(watch);
      watch.next = Math.max(watch.next, told + 1);
      this.#goOn(watch);
    }
  }

  /** `from` as the request has it, resolved: at least 1. */
  begin(watch: ServedWatch): void {
    const { floor } = this.#ports.store().history;
    watch.ground = this.#groundOf(watch);
    if (watch.next > floor) watch.sink.send(watch.id, { kind: "watching", revision: watch.next - 1 });
    this.#goOn(watch);
  }

  /** There may be room again. */
  resume(watch: ServedWatch): void {
    if (!this.#parked.has(watch)) return;
    if (!watch.hasRoom) {
      waitForConnection(watch);
      return;
    }
    this.#parked.delete(watch);
    this.#goOn(watch);
  }

  /**
   * A watch whose client reads more slowly than history is cut ends while it can still go on where it was. Looked at
   * from time to time: whoever has gained ground since is only far behind.
   */
  endSlow(): void {
    const { revision, history } = this.#ports.store();
    const { floor } = history;
    for (const watch of [...this.#parked]) {
      const ground = this.#groundOf(watch);
      const losesGround = ground < watch.ground;
      watch.ground = ground;
      if (watch.next <= floor) this.end(watch, { kind: "compacted", floor });
      else if (losesGround && ground < (revision - floor) / 4) {
        this.end(watch, { kind: "overflowed", revision: watch.next });
      }
    }
  }

  remove(watch: ServedWatch): void {
    watch.standing = "ended";
    this.#live.remove(watch);
    this.#walk?.watches.remove(watch);
    this.#waiting.delete(watch);
    this.#parked.delete(watch);
  }

  end(watch: ServedWatch, body: ResponseBody): void {
    this.remove(watch);
    watch.end(body);
  }

  endAll(body: ResponseBody): void {
    for (const watch of this.#all()) this.end(watch, body);
  }

  stop(): void {
    this.#isStopped = true;
    for (const watch of this.#all()) this.remove(watch);
  }

  #all(): ServedWatch[] {
    return [...this.#live, ...(this.#walk?.watches ?? []), ...this.#waiting, ...this.#parked];
  }

  #goOn(watch: ServedWatch): void {
    const { floor } = this.#ports.store().history;
    if (watch.next <= floor) {
      this.end(watch, { kind: "compacted", floor });
    } else if (watch.next > this.#position) {
      watch.standing = "live";
      this.#live.add(watch);
    } else {
      watch.standing = "behind";
      this.#waiting.add(watch);
      this.#deferTurn();
    }
  }

  /** Not in this turn: what was applied with it is told first. */
  #deferTurn(): void {
    if (this.#isTurnDeferred) return;
    this.#isTurnDeferred = true;
    this.#ports.clock.defer(() => {
      this.#isTurnDeferred = false;
      if (!this.#isStopped) this.#turn();
    });
  }

  #turn(): void {
    this.#walk ??= this.#nextWalk();
    const walk = this.#walk;
    if (walk === undefined) return;
    const { history, pairs } = this.#ports.store();
    this.#dropCompacted(walk, history.floor);
    let [records, changes] = [0, 0];
    for (const record of recordsAfter(history, pairs, walk.at)) {
      // All of them wait for room, or are over: the rest of the history is of no interest to anybody.
      if (walk.watches.size === 0) break;
      if (records >= maxRecordsPerTurn || changes >= maxChangesPerTurn) {
        this.#deferTurn();
        return;
      }
      records += 1;
      changes += record.changes.length;
      this.#tell(record, walk.watches);
      walk.at = record.revision;
    }
    this.#walk = undefined;
    for (const watch of walk.watches) {
      watch.next = Math.max(watch.next, this.#position + 1);
      watch.standing = "live";
      this.#live.add(watch);
    }
    if (this.#waiting.size > 0) this.#deferTurn();
  }

  #nextWalk(): Walk | undefined {
    if (this.#waiting.size === 0) return undefined;
    const watches = new WatchIndex<ServedWatch>();
    let from = Number.POSITIVE_INFINITY;
    for (const watch of this.#waiting) {
      watches.add(watch);
      from = Math.min(from, watch.next);
    }
    this.#waiting.clear();
    return { watches, at: from - 1 };
  }

  /** What they wanted next was cut away before it was told. */
  #dropCompacted({ watches, at }: Walk, floor: number): void {
    if (floor <= at) return;
    for (const watch of [...watches]) {
      if (Math.max(watch.next, at + 1) > floor) continue;
      watches.remove(watch);
      this.end(watch, { kind: "compacted", floor });
    }
  }

  #tell({ revision, changes }: RevisionRecord, watches: WatchIndex<ServedWatch>): void {
    let told: Map<ServedWatch, PairChange[]> | undefined;
    for (const change of changes) {
      watches.visit(change.key, (watch) => {
        if (revision < watch.next || !watch.wants(change)) return;
        told ??= new Map();
        const some = told.get(watch);
        if (some === undefined) told.set(watch, [change]);
        else some.push(change);
      });
    }
    if (told === undefined) return;
    for (const [watch, some] of told) {
      if (!watch.hasRoom || !watch.tell(revision, some)) this.#park(watch, watches, revision);
    }
  }

  #park(watch: ServedWatch, watches: WatchIndex<ServedWatch>, revision: number): void {
    watches.remove(watch);
    watch.next = revision;
    if (watch.standing === "live") watch.ground = this.#groundOf(watch);
    watch.standing = "behind";
    this.#parked.add(watch);
    waitForConnection(watch);
  }

  #groundOf({ next }: ServedWatch): number {
    return next - this.#ports.store().history.floor;
  }
}

/** Its client's credit may come before its connection has room: then nobody else would say that it may go on. */
function waitForConnection({ sink }: ServedWatch): void {
  if (!sink.hasRoom) sink.waits();
}
