/** The real clock and the real chance, as far as they can be told from wrong ones. */
import { randomHex, systemClock, systemRandom } from "@quorate/raft";
import { describe, expect, it } from "vitest";

function sources(): { monotonic: number; uptime: number | undefined; clock: ReturnType<typeof systemClock> } {
  const time = { monotonic: 500, uptime: 90_000 as number | undefined };
  const clock = systemClock({
    monotonicMs: () => time.monotonic,
    uptimeMs: () => time.uptime,
    uptimeGranularityMs: 10,
  });
  return Object.assign(time, { clock });
}

describe("bootMs", () => {
  it("passes as fast as monotonic time while the machine is awake, whatever the steps of its uptime.", () => {
    const time = sources();
    const startMs = time.clock.bootMs();
    for (let ms = 1; ms <= 100; ms += 1) {
      time.monotonic = 500 + ms;
      time.uptime = 90_000 + Math.ceil(ms / 10) * 10;
      expect(time.clock.bootMs() - startMs).toBe(ms);
    }
  });

  it("counts a suspend, during which monotonic time stood still, short of the granularity.", () => {
    const time = sources();
    const startMs = time.clock.bootMs();
    time.uptime = 90_000 + 3_600_000;
    time.monotonic += 1;
    expect(time.clock.bootMs() - startMs).toBe(3_600_000 - 10);
  });

  it("never falls, also when uptime does.", () => {
    const time = sources();
    time.uptime = 95_000;
    let last = time.clock.bootMs();
    for (const uptime of [95_000, 10, 0, 94_000, 96_000, undefined]) {
      time.uptime = uptime;
      time.monotonic += 1;
      const now = time.clock.bootMs();
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    }
  });

  it("is monotonic time where no uptime is known.", () => {
    const time = sources();
    time.uptime = undefined;
    const startMs = time.clock.bootMs();
    time.monotonic += 77;
    expect(time.clock.bootMs() - startMs).toBe(77);
  });
});

describe("after", () => {
  it("is never early.", async () => {
    const clock = systemClock();
    for (const delayMs of [0, 0.4, 1.6, 3, 7.9]) {
      const startMs = clock.nowMs();
      await new Promise<void>((resolve) => {
        const hold = setTimeout(() => {}, 5_000); // the clock itself does not keep the process alive
        clock.after(delayMs, () => {
          clearTimeout(hold);
          resolve();
        });
      });
      expect(clock.nowMs() - startMs).toBeGreaterThanOrEqual(delayMs);
    }
  });

  it("does nothing once it is cancelled, and cancelling is harmless at any time.", async () => {
    const clock = systemClock();
    let ran = 0;
    const cancel = clock.after(1, () => {
      ran += 1;
    });
    cancel();
    cancel();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(ran).toBe(0);
    const late = clock.after(0, () => {
      ran += 1;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    late();
    expect(ran).toBe(1);
  });
});

describe("systemRandom", () => {
  it("draws 32 unsigned bits, and others each time.", () => {
    const random = systemRandom();
    const drawn = Array.from({ length: 1_000 }, () => random.uint32());
    expect(drawn.every((value) => Number.isInteger(value) && value >= 0 && value < 2 ** 32)).toBe(true);
    expect(new Set(drawn).size).toBeGreaterThan(990);
    expect(randomHex(random, 32)).toMatch(/^[0-9a-f]{32}$/);
  });
});
