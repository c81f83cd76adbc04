/**
 * Replays one run and prints all of its trace, one line an event:
 *
 *   QUORATE_SEED=17 QUORATE_NODES=5 QUORATE_LAYER=store QUORATE_DURATION_MS=4000 \
 *     npx --yes pnpm@12 exec vitest run test/sim/replay.test.ts
 *
 * Without these variables it replays the first seed quietly, so that the way to replay stays tried.
 */
import { layers, simulate } from "@quorate/sim";
import { describe, expect, it } from "vitest";

const { QUORATE_SEED, QUORATE_NODES, QUORATE_LAYER, QUORATE_DURATION_MS } = process.env;

describe("the replay of a seed", () => {
  it("tells every event in a line, and ends with the verdict", { timeout: 600_000 }, async () => {
    const lines: string[] = [];
    const result = await simulate({
      seed: Number(QUORATE_SEED ?? 1),
      nodes: Number(QUORATE_NODES ?? 5),
      layer: layers.find((layer) => layer === QUORATE_LAYER) ?? "store",
      durationMs: Number(QUORATE_DURATION_MS ?? 1_000),
      onLine: (line) => {
        if (QUORATE_SEED !== undefined) process.stdout.write(`${line}\n`);
        else lines.push(line);
      },
    });
    if (QUORATE_SEED === undefined) expect(lines.length).toBeGreaterThan(100);
    expect(result.violations).toEqual([]);
  });
});
