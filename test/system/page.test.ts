/**
 * The page of a long run in a real browser: it draws, steps, filters and zooms, and says nothing on its console. The
 * browser is Debian's own, without a head; a page is opened from its file, as a user opens it.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventCount, RunRecorder, type RunRecording, renderPage, simulate } from "@quorate/sim";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { whatIsMissing } from "./requirements.ts";

const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

class OpenPage implements AsyncDisposable {
  readonly complaints: string[] = [];
  readonly requests: string[] = [];
  openedMs = 0;
  private readonly folder = mkdtempSync(join(tmpdir(), "quorate-page-"));
  private context!: BrowserContext;
  page!: Page;

  static async of(recording: RunRecording, colorScheme: "light" | "dark"): Promise<OpenPage> {
    const open = new OpenPage();
    const file = join(open.folder, "run.html");
    writeFileSync(file, renderPage(recording));
    open.context = await chromium.launchPersistentContext(join(open.folder, "profile"), {
      executablePath: "/usr/bin/chromium",
      args: flags,
      viewport: { width: 1_440, height: 860 },
      colorScheme,
    });
    open.page = await open.context.newPage();
    open.page.on("console", (message) => open.complaints.push(message.text()));
    open.page.on("pageerror", (error) => open.complaints.push(error.message));
    open.page.on("request", (request) => open.requests.push(request.url()));
    const startedMs = performance.now();
    await open.page.goto(pathToFileURL(file).href);
    await open.page.waitForSelector("#timeline[data-messages]", { timeout: 30_000 });
    open.openedMs = performance.now() - startedMs;
    return open;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async text(selector: string): Promise<string> {
    return (await this.page.textContent(selector)) ?? "";
  }

  /** Arrows in the last frame, once a frame has been drawn since. */
  async arrows(): Promise<number> {
    await this.page.evaluate(
      "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))",
    );
    return Number(await this.page.getAttribute("#timeline", "data-messages"));
  }

  /** How many different colours a canvas shows, and the share of its pixels that are not empty. */
  async pixels(id: string): Promise<{ readonly colors: number; readonly drawn: number }> {
    return (await this.page.evaluate(`(() => {
      const canvas = document.getElementById(${JSON.stringify(id)});
      const copy = new OffscreenCanvas(canvas.width, canvas.height);
      const context = copy.getContext("2d", { willReadFrequently: true });
      context.drawImage(canvas, 0, 0);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      const words = new Uint32Array(data.buffer);
      return { colors: new Set(words).size, drawn: words.filter((word) => word >>> 24 > 0).length / words.length };
    })()`)) as { colors: number; drawn: number };
  }
}

async function longRun(): Promise<RunRecording> {
  const recorder = new RunRecorder();
  const { violations } = await simulate({ seed: 7, nodes: 5, durationMs: 40_000, recorder });
  expect(violations).toEqual([]);
  const recording = recorder.recording();
  expect(eventCount(recording)).toBeGreaterThan(20_000);
  return recording;
}

describe("the page of a run", () => {
  it("opens 20,000 events, draws, steps, filters and zooms in a real browser", async ({ skip }) => {
    const missing = whatIsMissing(["chromium"], false);
    if (missing !== undefined) skip(missing);
    const recording = await longRun();
    await using open = await OpenPage.of(recording, "light");
    const { page } = open;
    console.log(`${eventCount(recording)} events opened in ${open.openedMs.toFixed(0)} ms`);
    expect(open.openedMs).toBeLessThan(10_000);
    for (const canvas of ["timeline", "overview"]) {
      const { colors, drawn } = await open.pixels(canvas);
      expect(colors).toBeGreaterThan(8);
      expect(drawn).toBeGreaterThan(0.3);
    }

    const before = await open.text("#cursor-time");
    const place = await open.text("#event-place");
    for (let step = 0; step < 5; step += 1) await page.keyboard.press("ArrowRight");
    await open.arrows();
    expect(await open.text("#event-place")).not.toBe(place);
    for (let step = 0; step < 5; step += 1) await page.keyboard.press("ArrowLeft");
    await open.arrows();
    expect(await open.text("#cursor-time")).toBe(before);
    expect(await open.text("#event-place")).toBe(place);
    expect(await open.text("#state")).toContain("leader");

    await page.click("#whole");
    const shown = await open.arrows();
    await page.click("[data-shows=heartbeat]");
    expect(await open.arrows()).toBeGreaterThan(shown);
    await page.click("[data-shows=append]");
    await page.click("[data-shows=heartbeat]");
    expect(await open.arrows()).toBeLessThan(shown);
    expect(await page.getAttribute("[data-shows=append]", "aria-pressed")).toBe("false");
    await page.click("[data-shows=append]");
    expect(await open.arrows()).toBe(shown);

    await page.mouse.move(500, 300);
    await page.mouse.wheel(0, -3_000);
    expect(await open.arrows()).toBeLessThan(shown / 4);
    await page.mouse.down();
    await page.mouse.move(300, 300, { steps: 4 });
    await page.mouse.up();
    const { colors } = await open.pixels("timeline");
    expect(colors).toBeGreaterThan(8);
    expect(open.complaints).toEqual([]);
    expect(open.requests.filter((url) => !url.startsWith("file:") && !url.startsWith("data:"))).toEqual([]);
  });

  it("opens at the violation, in the dark, and shows what it says as text", async ({ skip }) => {
    const missing = whatIsMissing(["chromium"], false);
    if (missing !== undefined) skip(missing);
    const recorder = new RunRecorder();
    await simulate({ seed: 3, nodes: 3, durationMs: 2_000, recorder });
    const recording = recorder.recording();
    const sentence = "<img src=x onerror=alert(1)> both lead term 2";
    const violations = [{ atMs: recording.endMs, invariant: "election safety", sentence }];
    await using open = await OpenPage.of({ ...recording, violations }, "dark");
    expect(await open.text("#event")).toContain(sentence);
    expect(await open.text("#verdict")).toBe("election safety was violated");
    await open.page.keyboard.press("Home");
    await open.arrows();
    expect(await open.text("#cursor-time")).toBe("0 ms");
    await open.page.keyboard.press("v");
    await open.arrows();
    expect(await open.text("#event h3")).toBe("Violation: election safety");
    expect((await open.pixels("timeline")).colors).toBeGreaterThan(8);
    expect(open.complaints).toEqual([]);
  });
});
