/** The replicated limits: one item, in the order of `storeLimitNames`. One that is not there has its default. */
import { isStoreLimit, storeLimitNames } from "@quorate/client/protocol";
import type { StateSection } from "./sections.ts";

export const limitsSection: StateSection = {
  tag: 9,
  name: "limits",
  *write(view, out) {
    for (const name of storeLimitNames) out.varint(view.limits[name]);
    yield;
  },
  restore(state) {
    return {
      item: (input) => {
        const limits = { ...state.limits };
        for (const name of storeLimitNames) {
          limits[name] = input.varint(name);
          if (!isStoreLimit(name, limits[name])) input.fail(`its ${name} is out of bounds`);
        }
        state.limits = limits;
      },
      end: () => {},
    };
  },
};
