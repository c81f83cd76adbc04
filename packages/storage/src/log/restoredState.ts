/**
 * What the core starts from, put together from the state record, the birth, the newest snapshot and a verified scan of
 * the log.
 */
import {
  asIndex,
  type Birth,
  type ConfigurationAt,
  decodeConfiguration,
  type Entry,
  type Index,
  QuorateError,
  type RestoredState,
  type SnapshotHeader,
} from "@quorate/raft";
import type { Scan } from "./scan.ts";
import type { StateRecord } from "./stateRecord.ts";

export function restoredState(
  record: StateRecord,
  birth: Birth,
  { termRuns, configurations }: Pick<Scan, "termRuns" | "configurations">,
  snapshot: SnapshotHeader | undefined,
): RestoredState {
  const { term, vote, floor, boundary, last, boot } = record;
  const first = snapshot?.configuration ?? { index: asIndex(0), configuration: birth.configuration };
  const from = snapshot?.boundary.index ?? 0;
  return {
    term,
    vote,
    floor,
    boundary: { index: boundary.index, term: boundary.term },
    snapshot,
    lastIndex: last.index,
    termRuns: termRuns.filter((run) => run.firstIndex <= last.index),
    configurations: [
      first,
      ...configurations.filter(({ index }) => index > from && index <= last.index).map(configurationOf),
    ],
    boot,
  };
}

function configurationOf(entry: Entry): ConfigurationAt {
  const { index, data } = entry;
  const configuration = decodeConfiguration(data);
  if (configuration !== undefined) return { index, configuration };
  throw unreadableConfiguration(index);
}

function unreadableConfiguration(index: Index): QuorateError {
  return new QuorateError(
    "WRONG_DIRECTORY",
    `Entry ${index} holds a configuration that this version cannot read. Use the version that wrote it.`,
  );
}
