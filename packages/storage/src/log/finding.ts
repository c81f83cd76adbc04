/** What an opening found that is not as after a clean stop. */

export interface Finding {
  /** `loss`: something acknowledged is gone. `note`: a crash left it so, and nothing is gone. */
  readonly kind: "loss" | "note";
  /** A clause: no full stop. */
  readonly text: string;
}

export function loss(text: string): Finding {
  return { kind: "loss", text };
}

export function note(text: string): Finding {
  return { kind: "note", text };
}
