/**
 * A sequencer: a lease and its term as one text, which its holder sends along with what it asks of a service. The
 * service asks the cluster whether it is still so (Chubby, §2.4), or writes to the store under it.
 *
 *     name:mode:term        orders/7:exclusive:41
 */
import { QuorateError } from "@quorate/raft";

export interface Sequencer {
  readonly name: string;
  /** Leases are held by one holder at a time. */
  readonly mode: "exclusive";
  readonly term: number;
}

export function sequencerOf(name: string, term: number): string {
  return `${name}:exclusive:${term}`;
}

/** From its end: a name may have colons itself. Throws `INVALID_ARGUMENT`. What it gives is a `fence` for writes. */
export function parseSequencer(text: string): Sequencer {
  const [, name = "", digits = ""] = /^(.+):exclusive:([1-9]\d{0,15})$/su.exec(text) ?? [];
  const term = Number(digits);
  if (name !== "" && Number.isSafeInteger(term)) return { name, mode: "exclusive", term };
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `${JSON.stringify(text)} is no sequencer: it is what \`lease.sequencer()\` gives, name:exclusive:term.`,
  );
}
