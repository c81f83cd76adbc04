/** `quorate sim --list`: what can go wrong, what is held, and what a long run must have seen. */
import type * as Sim from "@quorate/sim";
import { textTable } from "../textTable.ts";

type Catalogue = Pick<
  typeof Sim,
  "namedProfiles" | "faultKinds" | "invariants" | "requiredMarks" | "seedsForMarks"
>;

export function listLines(sim: Catalogue, asJson: boolean): readonly string[] {
  const { faultKinds, invariants, requiredMarks, seedsForMarks } = sim;
  const profiles = Object.fromEntries(
    Object.entries(sim.namedProfiles).map(([name, { about }]) => [name, about]),
  );
  if (asJson) return [JSON.stringify({ profiles, faults: faultKinds, invariants, requiredMarks })];
  return [
    ...textTable(["PROFILE", ""], Object.entries(profiles)),
    "",
    ...textTable(["FAULT", ""], Object.entries(faultKinds)),
    "",
    ...textTable(["INVARIANT", ""], Object.entries(invariants)),
    ...Object.entries(requiredMarks).flatMap(([profile, marks]) => [
      "",
      `MARKS that ${seedsForMarks} seeds or more of the profile ${profile}, with whole nodes, five or more, must reach`,
      ...marks,
    ]),
  ];
}
