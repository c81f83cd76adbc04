/** What is wrong with a node though it runs, in sentences for whoever looks at its status. */
import type { MemberId } from "../core/index.ts";
import type { Logger } from "../ports/index.ts";

const maxComplaints = 16;

export class Complaints {
  readonly #member: MemberId;
  readonly #logger: Logger;
  #sentences: readonly string[] = [];

  constructor(member: MemberId, logger: Logger) {
    this.#member = member;
    this.#logger = logger;
  }

  /** The newest last, none of them twice. */
  get sentences(): readonly string[] {
    return this.#sentences;
  }

  add(sentence: string): void {
    if (this.#sentences.at(-1) === sentence) return;
    this.#sentences = [...this.#sentences.filter((old) => old !== sentence), sentence].slice(-maxComplaints);
    this.#logger.warn({ member: this.#member }, sentence);
  }
}
