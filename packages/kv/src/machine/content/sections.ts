/**
 * What a snapshot of the store is made of: a section for each kind of state, in the order in which they are written.
 *
 * To add a kind of state: a field in `StoreState`, a file beside this one that writes and restores it, and a line in
 * `sections`. A tag never changes its meaning; a section whose items change gets a new one, and the old one is still
 * read. A state without items writes nothing of its section, so that older snapshots restore with it empty.
 */
import type { ByteReader } from "@quorate/client/protocol";
import type { StoreState } from "../storeState.ts";
import type { ContentWriter } from "./contentWriter.ts";
import { graceSection } from "./graceSection.ts";
import { historyFloorSection, historySection } from "./historySection.ts";
import { acquisitionsSection, attachmentsSection, leasesSection, silencesSection } from "./leaseSections.ts";
import { limitsSection } from "./limitsSection.ts";
import { pairsSection } from "./pairsSection.ts";
import { pastGrantsSection } from "./pastGrantsSection.ts";
import { revisionSection } from "./revisionSection.ts";
import { answersSection, sessionsSection } from "./sessionsSection.ts";
import { versionSection } from "./versionSection.ts";

export interface StateSection {
  /** 1 to 255, its own. */
  readonly tag: number;
  /** For messages. */
  readonly name: string;
  /**
   * Writes the state's items one after the other, and yields after each: a frame may end there. An item is a few
   * megabytes at most; a list that can grow is written as many items. The view is written once, and may lose what was
   * written.
   */
  write(view: StoreState, out: ContentWriter): Iterable<void>;
  /** `state` is new, and holds what the sections before have restored. */
  restore(state: StoreState): SectionRestoration;
}

export interface SectionRestoration {
  /** Reads one item and adds it. What is wrong is told to `input.fail`, or thrown. */
  item(input: ByteReader): void;
  /** After the last item. */
  end(): void;
}

export const sections: readonly StateSection[] = [
  versionSection,
  revisionSection,
  pairsSection,
  sessionsSection,
  answersSection,
  silencesSection,
  attachmentsSection,
  leasesSection,
  acquisitionsSection,
  limitsSection,
  historyFloorSection,
  historySection,
  pastGrantsSection,
  graceSection,
];
