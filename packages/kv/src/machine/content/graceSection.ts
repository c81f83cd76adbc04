/**
 * For how long nothing is granted, in a store that was made of another one: one item, the milliseconds. Only where that
 * is not over, so that a release which knows nothing of it refuses such a snapshot, and takes every other one.
 */
import { maxSessionTtlMs } from "@quorate/client/protocol";
import { beginGrace } from "../grace.ts";
import type { StateSection } from "./sections.ts";

export const graceSection: StateSection = {
  tag: 13,
  name: "grace period",
  *write(view, out) {
    if (view.graceMs === 0) return;
    out.varint(view.graceMs);
    yield;
  },
  restore(state) {
    return {
      item: (input) => {
        const graceMs = input.varint("grace period");
        if (graceMs < 1 || graceMs > maxSessionTtlMs) input.fail("its grace period is out of bounds");
        beginGrace(state, graceMs);
      },
      end: () => {},
    };
  },
};
