/**
 * The colours of the canvases, read from the style sheet's variables, so that light and dark are decided in one place.
 * The hues are those of Okabe and Ito, which people with any kind of colour vision can tell apart.
 */
import type { Outcome, roles } from "./recording.ts";
import type { MessageGroup } from "./runIndex.ts";

export interface Palette {
  readonly ground: string;
  readonly text: string;
  readonly quiet: string;
  readonly line: string;
  readonly lane: string;
  readonly violation: string;
  readonly lost: string;
  readonly cursor: string;
  readonly onBand: string;
  readonly hatch: string;
  readonly trouble: string;
  readonly commit: string;
  readonly tail: string;
  readonly roles: Readonly<Record<(typeof roles)[number], string>>;
  readonly groups: Readonly<Record<MessageGroup, string>>;
  readonly outcomes: Readonly<Record<Outcome, string>>;
  readonly sides: readonly string[];
  readonly font: string;
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ground: of("ground"),
    text: of("text"),
    quiet: of("quiet"),
    line: of("line"),
    lane: of("lane"),
    violation: of("violation"),
    lost: of("lost"),
    cursor: of("cursor"),
    onBand: of("on-band"),
    hatch: of("hatch"),
    trouble: of("trouble"),
    commit: of("commit"),
    tail: of("tail"),
    roles: {
      follower: of("follower"),
      preCandidate: of("pre-candidate"),
      candidate: of("candidate"),
      leader: of("leader"),
    },
    groups: {
      append: of("append"),
      vote: of("vote"),
      preVote: of("pre-vote"),
      read: of("read"),
      heartbeat: of("heartbeat"),
    },
    outcomes: { ok: of("ok"), failed: of("failed"), unknown: of("unknown"), open: of("open") },
    sides: [of("side-0"), of("side-1"), of("side-2"), of("side-3")],
    font: of("font"),
  };
}
