/** `--html`: the run once more, recorded, as a page of its own. Recording changes nothing of a run. */
import { writeFileSync } from "node:fs";
import type { ReplayOptions, SimulationOptions } from "@quorate/sim";

export async function writeRunPage(run: SimulationOptions | ReplayOptions, file: string): Promise<void> {
  const { RunRecorder, renderPage, simulate } = await import("@quorate/sim");
  const recorder = new RunRecorder();
  await simulate({ ...run, recorder });
  writeFileSync(file, renderPage(recorder.recording()));
}
