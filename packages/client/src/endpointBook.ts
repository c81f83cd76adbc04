/**
 * The endpoints that a client knows, and what each of them said last, for error messages that tell where it hurts.
 *
 * Configured endpoints are never forgotten; learned ones are replaced by what the newest status says, so the book
 * does not grow.
 */
import { maxReportedMembers, type ReportedMember } from "./protocol/index.ts";

interface Note {
  readonly sentence: string;
  /** It refused us for good: trying again soon is of no use. */
  readonly isRefusal: boolean;
}

export class EndpointBook {
  readonly configured: readonly string[];
  #members: readonly ReportedMember[] = [];
  #all: readonly string[];
  readonly #notes: Map<string, Note> = new Map();

  constructor(configured: readonly string[]) {
    this.configured = configured;
    this.#all = configured;
  }

  /** Configured ones first. */
  get all(): readonly string[] {
    return this.#all;
  }

  get members(): readonly ReportedMember[] {
    return this.#members;
  }

  learn(members: readonly ReportedMember[]): void {
    if (members.length === 0 || members.length > maxReportedMembers) return;
    this.#members = members;
    this.#all = [...new Set([...this.configured, ...members.map((member) => member.endpoint)])];
    for (const endpoint of this.#notes.keys()) {
      if (!this.#all.includes(endpoint)) this.#notes.delete(endpoint);
    }
  }

  endpointOf(nodeId: string): string | undefined {
    return this.#members.find((member) => member.id === nodeId)?.endpoint;
  }

  note(endpoint: string, sentence: string, isRefusal: boolean = false): void {
    if (this.#all.includes(endpoint)) this.#notes.set(endpoint, { sentence, isRefusal });
  }

  /** Every endpoint refused us. */
  get isHopeless(): boolean {
    return this.#all.every((endpoint) => this.#notes.get(endpoint)?.isRefusal === true);
  }

  /** What each endpoint said last, in one line. */
  report(): string {
    const parts = this.#all.map((endpoint) => {
      const note = this.#notes.get(endpoint);
      return `${endpoint}: ${note === undefined ? "not asked" : clauseOf(note.sentence, endpoint)}`;
    });
    return parts.join("; ");
  }
}

/** On one line, though what it quotes of a library may have more, and without the endpoint that stands before it. */
function clauseOf(sentence: string, endpoint: string): string {
  const line = sentence.replace(/\s+/g, " ").replace(/[ .]+$/, "");
  return line.startsWith(`${endpoint} `) ? line.slice(endpoint.length + 1) : line;
}
