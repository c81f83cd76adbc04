/** What a store gives of a log that holds no entries yet. */
import { asIndex, asTerm, type Configuration, type RestoredState } from "@quorate/raft";

export function emptyRestored(
  configuration: Configuration,
  facts: Partial<RestoredState> = {},
): RestoredState {
  return {
    term: asTerm(0),
    vote: undefined,
    floor: undefined,
    boundary: { index: asIndex(0), term: asTerm(0) },
    snapshot: undefined,
    lastIndex: asIndex(0),
    termRuns: [],
    configurations: [{ index: asIndex(0), configuration }],
    boot: 1,
    ...facts,
  };
}
