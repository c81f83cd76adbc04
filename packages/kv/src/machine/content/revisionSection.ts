/** The store's revision: one item, the number. */
import type { StateSection } from "./sections.ts";

export const revisionSection: StateSection = {
  tag: 1,
  name: "revision",
  *write(view, out) {
    out.varint(view.revision);
    yield;
  },
  restore(state) {
    return {
      item: (input) => {
        state.revision = input.varint("revision");
      },
      end: () => {},
    };
  },
};
