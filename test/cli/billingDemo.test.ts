/** What the demo draws, and what it takes for right. The demo itself is played in test/process. */
import { type ChapterOutcome, chapters, type TimelineEvent, timelineLines } from "quorate/internal";
import { describe, expect, it } from "vitest";

const story: TimelineEvent[] = [
  { who: "A", atMs: 0, kind: "leads", term: 17 },
  { who: "A", atMs: 300, kind: "accepted" },
  { who: "A", atMs: 500, kind: "frozen" },
  { who: "B", atMs: 2_000, kind: "leads", term: 21 },
  { who: "B", atMs: 2_300, kind: "accepted" },
  { who: "A", atMs: 2_500, kind: "woken" },
  { who: "A", atMs: 2_700, kind: "refused" },
  { who: "A", atMs: 2_800, kind: "ended" },
  { who: "B", atMs: 2_999, kind: "accepted" },
];

describe("the timeline", () => {
  it("shows who held which term when, who was frozen, and which writes were accepted and refused", () => {
    expect(timelineLines(story, ["A", "B", "C"], 42)).toEqual([
      "            0 s       1 s       2 s",
      "A term 17   ━━━━━zzzzzzzzzzzzzzzzzzzz╌╌╌",
      "  writes       ✓                       ✗",
      "B term 21                       ━━━━━━━━━━",
      "  writes                           ✓     ✓",
      "C",
    ]);
  });

  it("keeps to its width, and shows a refusal before an acceptance in the same column", () => {
    const crowded = story.map((event) => ({ ...event, atMs: event.atMs * 100 }));
    for (const width of [32, 60, 100]) {
      for (const line of timelineLines(crowded, ["A", "B"], width))
        expect(line.length).toBeLessThanOrEqual(width);
    }
    const both: TimelineEvent[] = [
      { who: "A", atMs: 10, kind: "refused" },
      { who: "A", atMs: 11, kind: "accepted" },
      { who: "A", atMs: 1_000, kind: "accepted" },
    ];
    expect(timelineLines(both, ["A"], 42)[2]).toMatch(/^ {2}writes {4}✗ +✓$/);
  });
});

describe("the chapters", () => {
  const right: ChapterOutcome = {
    customers: 12,
    totals: { charges: 12, charged: 12, chargedTwice: 0, writers: ["A", "B"], termsRise: true },
    payments: { taken: 12, asked: 13 },
    events: [{ who: "A", atMs: 1, kind: "refused" }],
  };
  const last = chapters.at(-1);

  it("take the totals of a fenced run for right", () => {
    expect(last?.complaints(right)).toEqual([]);
  });

  it.each<[string, Partial<ChapterOutcome>]>([
    ["one charge too many", { totals: { ...right.totals, charges: 13, chargedTwice: 1 } }],
    ["a customer who was forgotten", { totals: { ...right.totals, charges: 11, charged: 11 } }],
    ["a term that wrote after a newer one", { totals: { ...right.totals, termsRise: false } }],
    ["nobody who took over", { totals: { ...right.totals, writers: ["A"] } }],
    ["a payment too many", { payments: { taken: 13, asked: 13 } }],
    ["no second request for a payment", { payments: { taken: 12, asked: 12 } }],
    ["nothing that was refused", { events: [] }],
  ])("complain of %s", (_title, wrong) => {
    expect(last?.complaints({ ...right, ...wrong })).not.toEqual([]);
  });

  it("do not take a fenced run for an unfenced one, nor the other way round", () => {
    for (const chapter of chapters.slice(0, -1)) expect(chapter.complaints(right)).not.toEqual([]);
  });
});
