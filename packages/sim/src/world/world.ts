/**
 * The world of one simulation: time, chance, wires, and the trace of all that happens in it.
 *
 * One event at a time: it runs, then every promise that it settled is followed to its end, then the next one. Chance
 * comes from streams of their own, so that one more draw in one part moves nothing in another.
 */
import { SimulatedNetwork } from "../network/network.ts";
import { Paths } from "../network/paths.ts";
import { type Chance, chanceFrom } from "./chance.ts";
import { ClockBound } from "./clockBound.ts";
import { SimulatedProcess } from "./process.ts";
import { Timeline } from "./timeline.ts";
import { Trace } from "./trace.ts";

/** Taken before anything can replace them: the real things that a simulation waits for. */
const nextMacrotask = setImmediate;
const nextTick = process.nextTick;

/** So often the process may see to what else it has: signals, other threads, a progress line. */
const eventsBetweenMacrotasks = 256;

export class World {
  readonly seed: number;
  readonly timeline: Timeline = new Timeline();
  readonly clockBound: ClockBound = new ClockBound(this.timeline);
  readonly trace: Trace;
  readonly paths: Paths;
  readonly network: SimulatedNetwork;
  /** Events that have happened. */
  events = 0;
  /**
   * Whether any event may settle promises, which are then followed before the next one. Off where nothing makes any
   * (bare cores): there only an event that says so by `settlesPromises`.
   */
  readonly followsPromises: boolean;
  settlesPromises = false;
  private readonly origins: Chance;

  constructor(
    seed: number,
    options: {
      readonly keptLines: number;
      readonly onLine?: (line: string) => void;
      readonly followsPromises?: boolean;
    },
  ) {
    this.seed = seed;
    this.followsPromises = options.followsPromises ?? true;
    this.trace = new Trace(this.timeline, options.keptLines, options.onLine);
    this.paths = new Paths(this.chance("network"));
    this.network = new SimulatedNetwork(this);
    this.origins = this.chance("clock origins");
  }

  chance(stream: string): Chance {
    return chanceFrom(this.seed, stream);
  }

  /** A process whose clock starts anywhere: nothing may compare the times of two. */
  process(name: string): SimulatedProcess {
    return new SimulatedProcess(name, this.timeline, this.origins.below(1_000_000), this.clockBound);
  }

  /** Lets things happen until `untilMs`, or until `isDone` after an event. */
  run(untilMs: number, isDone: () => boolean = () => false): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = (): void => {
        try {
          let run: (() => void) | undefined;
          do {
            run = isDone() ? undefined : this.timeline.next(untilMs);
            if (run === undefined) {
              resolve();
              return;
            }
            this.events += 1;
            run();
          } while (this.isAtOnce());
          this.settlesPromises = false;
          afterPromises(this.isMacrotaskDue(), next);
        } catch (error) {
          reject(error);
        }
      };
      // What the caller has begun belongs to this moment, not to that of the next event.
      nextMacrotask(next);
    });
  }

  /** Whether the next event may follow without a look at promises. */
  private isAtOnce(): boolean {
    return !this.followsPromises && !this.settlesPromises && !this.isMacrotaskDue();
  }

  private isMacrotaskDue(): boolean {
    return this.events % eventsBetweenMacrotasks === 0;
  }
}

const settled = Promise.resolve();

/**
 * Calls `next` when no promise is left to follow.
 *
 * That is so when the event loop comes to its check phase, and also at a tick that was asked for while promises were
 * being followed. The tick comes without a round through the event loop, which costs more than most events.
 */
function afterPromises(isMacrotask: boolean, next: () => void): void {
  if (isMacrotask) nextMacrotask(next);
  else void settled.then(() => nextTick(next));
}
