/** The table of known bugs names tests that exist, and no bug twice. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { covered, later, notApplicable } from "./coverage.ts";

const root = join(import.meta.dirname, "../..");

describe("the table of known bugs", () => {
  it("names tests that are there, word for word", () => {
    const missing = covered.filter(({ file, title }) => {
      const path = join(root, file);
      return !existsSync(path) || !readFileSync(path, "utf8").includes(`"${title}"`);
    });
    expect(missing).toEqual([]);
  });

  it("says of each bug one thing", () => {
    const bugs = [...covered, ...later, ...notApplicable].map(({ bug }) => bug);
    expect(bugs.filter((bug, at) => bugs.indexOf(bug) !== at)).toEqual([]);
  });

  it("lists every scenario of its own folder", () => {
    const files = ["scenarios.test.ts", "coordination.test.ts"];
    const text = files.map((file) => readFileSync(join(import.meta.dirname, file), "utf8")).join("");
    const titles = [...text.matchAll(/^ {2}it\("(.+)", (?:async )?\(\) => \{$/gm)].map(([, title]) => title);
    expect(titles.length).toBeGreaterThan(10);
    const listed = new Set(covered.map(({ title }) => title));
    expect(titles.filter((title) => title !== undefined && !listed.has(title))).toEqual([]);
  });
});
