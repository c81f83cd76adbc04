/**
 * Lectures that are true: each file is replayed against the core, and every line under a command must be what comes
 * of it now. `QUORATE_REWRITE=1` writes what comes of it into the files; read the difference before you keep it.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, perform } from "./stage.ts";

const folder = join(import.meta.dirname, "lectures");

/** The text anew: comments, empty lines and commands stay, everything else is what the core does. */
function replay(text: string): string {
  const stage = createStage();
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) lines.push(line);
    else if (line.startsWith("> ")) lines.push(line, ...perform(stage, line.slice(2)));
  }
  return lines.join("\n");
}

const files = readdirSync(folder).filter((file) => file.endsWith(".txt"));

describe("a transcript is what the core does", () => {
  it.each(files)("%s", (file) => {
    const path = join(folder, file);
    const text = readFileSync(path, "utf8");
    const now = replay(text);
    if (process.env.QUORATE_REWRITE === "1") writeFileSync(path, now);
    else expect(now).toBe(text);
  });

  it("a changed line is noticed", () => {
    const text = readFileSync(join(folder, "election.txt"), "utf8");
    const changed = text.replace("granted", "refused");
    expect(changed).not.toBe(text);
    expect(replay(changed)).not.toBe(changed);
  });

  it("a command that nobody knows stops the replay", () => {
    expect(() => replay("> add-nodes 1\n> dance")).toThrow("unknown command: dance");
  });
});
