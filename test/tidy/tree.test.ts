/** This repository keeps its own house rules: layering, lengths, purity, words, and errors that are documented. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errorCodes } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import { filesBelow, isCode, root } from "./houseFiles.ts";
import { layeringComplaints, loadedWith } from "./layers.ts";
import { complaintsAbout, documentedCodes, foreignWordsIn } from "./rules.ts";

const files = filesBelow(root);
const code = files.filter(isCode);

describe("the tree", () => {
  it("is seen at all", () => {
    expect(code.length).toBeGreaterThan(20);
    expect(files.some((file) => file.path === "package.json")).toBe(true);
  });

  it("keeps the rules of one file in every source file", () => {
    expect(code.filter((file) => !file.path.endsWith(".config.ts")).flatMap(complaintsAbout)).toEqual([]);
  });

  it("keeps its layers", () => {
    expect(code.flatMap(layeringComplaints)).toEqual([]);
  });

  it("loads no socket and no disk with the simulator", () => {
    expect(loadedWith("packages/sim/src/index.ts", new Set(["ws", "level"]), files)).toEqual([]);
  });

  it("loads fast-check with the simulator's property tests alone", () => {
    expect(loadedWith("packages/sim/src/index.ts", new Set(["fast-check"]), files)).toEqual([]);
    expect(loadedWith("packages/sim/src/property/index.ts", new Set(["fast-check"]), files)).not.toEqual([]);
  });

  it("loads no native module with the client", () => {
    expect(loadedWith("packages/client/src/index.ts", new Set(["level"]), files)).toEqual([]);
  });

  it("documents every error code, and no other, in order", () => {
    const markdown = readFileSync(join(root, "docs/reference/errors.md"), "utf8");
    expect(documentedCodes(markdown)).toEqual([...errorCodes].sort());
  });

  it("speaks of itself alone, in its files", () => {
    expect(files.flatMap(foreignWordsIn)).toEqual([]);
  });

  it("speaks of itself alone, in its history", ({ skip }) => {
    if (!existsSync(join(root, ".git"))) skip("not a git checkout: there is no history to read");
    const log = execFileSync("git", ["log", "--format=%h %B"], { cwd: root, encoding: "utf8" });
    expect(foreignWordsIn({ path: "history", text: log })).toEqual([]);
  });

  it("gives every package a page of its own and the licence, which npm packs with it", () => {
    const licence = readFileSync(join(root, "LICENSE"), "utf8");
    const manifests = files.filter(({ path }) => /^packages\/[^/]+\/package\.json$/.test(path));
    expect(manifests.length).toBeGreaterThan(5);
    for (const { path, text } of manifests) {
      const { name } = JSON.parse(text) as { name: string };
      const page = files.find((file) => file.path === path.replace("package.json", "README.md"));
      expect(page?.text.split("\n")[0], path).toBe(`# ${name}`);
      expect(readFileSync(join(root, path, "..", "LICENSE"), "utf8"), path).toBe(licence);
    }
  });

  it("names exact versions, each in the catalog", () => {
    const workspace = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8");
    const catalog = /^catalog:\n((?: {2}.*\n)+)/m.exec(workspace)?.[1] ?? "";
    const loose = catalog.split("\n").filter((line) => line !== "" && !/: \d+\.\d+\.\d+$/.test(line));
    expect(loose).toEqual([]);
    const manifests = files.filter((file) => file.path.endsWith("package.json"));
    const outside = manifests.flatMap(({ path, text }) => {
      const manifest = JSON.parse(text) as Record<string, Record<string, string> | undefined>;
      const wanted = { ...manifest.dependencies, ...manifest.devDependencies };
      return Object.entries(wanted)
        .filter(([, version]) => version !== "catalog:" && version !== "workspace:*")
        .map(([name]) => `${path}: ${name}`);
    });
    expect(outside).toEqual([]);
  });
});
