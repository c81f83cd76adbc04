/**
 * How grants of leases end, as this node applies it: counted by how, and watched for names that are lost again and
 * again.
 *
 * A grant that was given back is no trouble, however often: locks go from hand to hand. One that its holder did not
 * give back is, when it happens to one name many times in a short time: its work does not fit into its time to live, or
 * its processes die at it. That is judged by the leader alone, for the time that it has led, and only said: nothing is
 * decided by it.
 */
import { type ByteString, type GrantEnd, grantEnds, textOfByteString } from "@quorate/client/protocol";
import type { Clock, Logger } from "@quorate/raft";
import type { EndedGrant } from "../machine/index.ts";

/** So many losses of one name within so long are said. */
export const flappingLosses = 5;
export const flappingWindowMs = 300_000;
/** Names of which losses are remembered, and those that are said one by one. */
const maxNames = 10_000;
const maxSaid = 8;

const losses: ReadonlySet<GrantEnd> = new Set(["expired", "revoked", "unclaimed", "lost"]);

export class LeaseEnds {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #counts: Map<GrantEnd, number> = new Map(grantEnds.map((end) => [end, 0]));
  /**
   * When each name was lost, the last few times: of names that were lost lately, and of those lost before them, which
   * go when there are many new ones. Never one by one: the first key of a map of which thousands were deleted is found
   * by passing over all of these.
   */
  #lately: Map<ByteString, readonly number[]> = new Map();
  #before: Map<ByteString, readonly number[]> = new Map();
  /** Those that were lost too often; some may have been left in peace since. */
  readonly #flapping: Set<ByteString> = new Set();
  #isInOffice = false;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Since this process began; after a restart, of the entries that it applies again, too. */
  get counts(): ReadonlyMap<GrantEnd, number> {
    return this.#counts;
  }

  /** Names that were lost too often; on a node that does not lead: none. */
  get flapping(): readonly ByteString[] {
    for (const name of this.#flapping) {
      if (this.#recent(name).length < flappingLosses) this.#flapping.delete(name);
    }
    return [...this.#flapping];
  }

  /** For people, in the node's status. */
  get complaints(): readonly string[] {
    return this.flapping.slice(-maxSaid).map(sentenceOf);
  }

  officeBegun(): void {
    this.officeLost();
    this.#isInOffice = true;
  }

  officeLost(): void {
    this.#lately.clear();
    this.#before.clear();
    this.#flapping.clear();
    this.#isInOffice = false;
  }

  applied(ended: readonly EndedGrant[]): void {
    for (const { name, end } of ended) {
      this.#counts.set(end, (this.#counts.get(end) ?? 0) + 1);
      if (this.#isInOffice && losses.has(end)) this.#lose(name);
    }
  }

  #lose(name: ByteString): void {
    const recent = this.#recent(name);
    this.#lately.set(name, [...recent, this.#clock.nowMs()].slice(-flappingLosses));
    if (recent.length === flappingLosses - 1) {
      this.#flapping.add(name);
      this.#logger.warn({ name: textOfByteString(name) }, sentenceOf(name));
    }
    if (this.#lately.size > maxNames / 2) this.#forgetOlder();
  }

  #forgetOlder(): void {
    this.#before = this.#lately;
    this.#lately = new Map();
    for (const name of this.#flapping) if (!this.#before.has(name)) this.#flapping.delete(name);
  }

  #recent(name: ByteString): readonly number[] {
    const sinceMs = this.#clock.nowMs() - flappingWindowMs;
    const known = this.#lately.get(name) ?? this.#before.get(name) ?? [];
    return known.filter((atMs) => atMs >= sinceMs);
  }
}

function sentenceOf(name: ByteString): string {
  return (
    `The lease ${JSON.stringify(textOfByteString(name))} was lost ${flappingLosses} times within ` +
    `${flappingWindowMs / 60_000} minutes, each time by a holder that did not give it back: see quorate lease show, ` +
    "why its holders die, fall silent or stand still, and whether its time to live is too short."
  );
}
