/**
 * The shared secret: both sides prove that they know it, without showing it.
 *
 *     dialler  ──▶  who are you? I choose nonce n …            (a request of its own)
 *     listener ◀──  prove it against challenge c
 *     dialler  ──▶  HMAC(secret, "dial", c, n, its hello)      (the upgrade)
 *     listener ◀──  HMAC(secret, "answer", c, n, both hellos)
 *
 * Each challenge is good for one attempt and a few seconds, so that a proof which was overheard opens
 * nothing. The secret keeps strangers out; against someone who sits on the wire between two nodes it takes
 * TLS.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Hello } from "@quorate/raft";

export interface ProofFacts {
  readonly challenge: string;
  readonly nonce: string;
  readonly hello: Hello;
  /** Only in the listener's proof. */
  readonly answer?: Hello;
}

export function newNonce(): string {
  return randomBytes(16).toString("hex");
}

export function isNonce(text: string | undefined): text is string {
  return text !== undefined && /^[0-9a-f]{32}$/.test(text);
}

export function prove(secret: string, facts: ProofFacts): string {
  const { challenge, nonce, hello, answer } = facts;
  const side = answer === undefined ? "dial" : "answer";
  // JSON keeps the parts apart: no two sets of facts have the same text.
  const text = JSON.stringify(["quorate", side, challenge, nonce, sorted(hello), sorted(answer ?? {})]);
  return createHmac("sha256", secret).update(text).digest("hex");
}

/** In constant time. */
export function isProof(secret: string, facts: ProofFacts, shown: string | undefined): boolean {
  const expected = Buffer.from(prove(secret, facts));
  const given = Buffer.from(shown ?? "");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function sorted(hello: Hello): [string, string][] {
  return Object.entries(hello).sort(([left], [right]) => (left < right ? -1 : 1));
}

const maxChallenges = 4_096;
const challengeLifeMs = 10_000;

/** The challenges that were given out and not used yet: bounded, the oldest go first. */
export class Challenges {
  readonly #givenMs = new Map<string, number>();

  give(nowMs: number): string {
    for (const [oldest, givenMs] of this.#givenMs) {
      if (this.#givenMs.size < maxChallenges && nowMs - givenMs < challengeLifeMs) break;
      this.#givenMs.delete(oldest);
    }
    const challenge = newNonce();
    this.#givenMs.set(challenge, nowMs);
    return challenge;
  }

  /** Whether it was given out, not long ago, and not used before. */
  use(challenge: string, nowMs: number): boolean {
    const givenMs = this.#givenMs.get(challenge);
    this.#givenMs.delete(challenge);
    return givenMs !== undefined && nowMs - givenMs < challengeLifeMs;
  }
}
