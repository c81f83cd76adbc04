/** docs/reference/command.md keeps step with the command. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commandTable, exitCodeMeanings, optionTable, parseConfig } from "quorate/internal";
import { describe, expect, it } from "vitest";

const page: string = readFileSync(
  join(import.meta.dirname, "..", "..", "docs", "reference", "command.md"),
  "utf8",
);

describe("the command's reference page", () => {
  it("has a section or a line for every command", () => {
    for (const name of Object.keys(commandTable))
      expect(page).toMatch(new RegExp(`^\\| \\[\`${name}\\b`, "m"));
  });

  it("tells every option, and no option that there is not", () => {
    const told = new Set([...page.matchAll(/--([a-z][a-z-]+)/g)].map(([, name]) => name));
    const known = new Set([...Object.keys(optionTable), "yes"]);
    expect([...told].filter((name) => !known.has(name ?? ""))).toEqual([]);
    expect([...known].filter((name) => !told.has(name))).toEqual([]);
  });

  it("tells every exit code", () => {
    for (const [code, meaning] of exitCodeMeanings) {
      expect(page.replaceAll("`", "")).toContain(`| ${code} | ${meaning} |`);
    }
  });

  it("shows a config file that is accepted", () => {
    const file = /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
    expect(parseConfig(file, "node.json").id).toBe("a");
  });
});
