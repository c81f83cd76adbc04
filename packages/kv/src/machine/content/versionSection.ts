/**
 * The version of the machine: one item, the number, before everything else. Not where it is 1, as a release that knows
 * no versions expects; of any later one, such a release refuses the section, and another one a version that it does not
 * know.
 */
import { setVersion } from "../machineVersion.ts";
import type { StateSection } from "./sections.ts";

export const versionSection: StateSection = {
  tag: 14,
  name: "version",
  *write(view, out) {
    if (view.version === 1) return;
    out.varint(view.version);
    yield;
  },
  restore(state) {
    return {
      item: (input) => {
        const version = input.varint("version");
        if (version < 2) input.fail("its version is none");
        if (input.problem === undefined) setVersion(state, version);
      },
      end: () => {},
    };
  },
};
