/** Sentences about what keeps a node from taking part, for its status and its log: the newest few, each once. */
import type { Refusal, Standing } from "../ports/index.ts";

const maxComplaints = 16;

export class Complaints {
  #sentences: readonly string[] = [];
  readonly #tell: (sentence: string) => void;

  constructor(tell: (sentence: string) => void) {
    this.#tell = tell;
  }

  /** Newest last. */
  get sentences(): readonly string[] {
    return this.#sentences;
  }

  add(sentence: string | undefined): void {
    if (sentence === undefined || this.#sentences.at(-1) === sentence) return;
    this.#sentences = [...this.#sentences.filter((old) => old !== sentence), sentence].slice(-maxComplaints);
    this.#tell(sentence);
  }
}

/** Of a moment: nothing that anybody should look at. */
export function isPassing({ code }: Refusal): boolean {
  return code === "STARTING" || code === "CLOSING";
}

/** What is wrong with a directory that was opened, if anything is. */
export function complaintOf(standing: Standing): string | undefined {
  switch (standing.kind) {
    case "unborn":
      return undefined;
    case "lost":
      return (
        "The record of this node's membership is gone from its log. It stays mute until a member tells it its " +
        `cluster again and its log is back at entry ${standing.floor.lastIndex}.`
      );
    case "born": {
      const { floor } = standing.restored;
      if (floor === undefined) return undefined;
      return (
        "Entries that this node had acknowledged are gone from its log. It stays mute until the leader has brought " +
        `it back to entry ${floor.lastIndex}; it needs no help for that as long as a majority of the others is up.`
      );
    }
  }
}
