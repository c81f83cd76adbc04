/** What the documentation says can be checked: its links lead somewhere, its numbers are those of the code. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { clientOptions, type OptionsByCall } from "@quorate/client/internal";
import * as protocol from "@quorate/client/protocol";
import { nodeOptions } from "@quorate/kv/internal";
import { describe, expect, it } from "vitest";
import { root } from "../tidy/houseFiles.ts";
import { codeBlocksOf, localLinks } from "./codeBlocks.ts";

interface OptionTold {
  readonly option: string;
  /** Empty: of all but a few. */
  readonly of: readonly string[];
}

const quoted = (text: string): string[] =>
  [...text.matchAll(/`([\w.]+)`/g)].map(([, name]) => name as string);

/** A table stands behind a line that says which calls take it, or names them in its second column. */
function optionsTold(page: string): OptionTold[] {
  const rows: OptionTold[] = [];
  let takers: readonly string[] = [];
  for (const line of page.split("\n")) {
    if (/ takes?:$/.test(line)) takers = quoted(line);
    else if (line.startsWith("## ")) takers = [];
    const [, names, of = ""] = /^\| (`[^|]+) \| ([^|]*)\|/.exec(line) ?? [];
    if (names === undefined) continue;
    const calls = takers.length > 0 ? takers : of.startsWith("all") ? [] : quoted(of);
    for (const option of quoted(names)) rows.push({ option: option.split(".")[0] as string, of: calls });
  }
  return rows;
}

function isOf({ of }: OptionTold, call: string): boolean {
  return of.length === 0 || of.includes(call);
}

describe("the documentation", () => {
  it("links to what is there", () => {
    const links = localLinks();
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter(({ target }) => !existsSync(join(root, target)))).toEqual([]);
  });

  it("gives the limits of the protocol as they are", () => {
    const text = readFileSync(join(root, "docs/reference/limits.md"), "utf8");
    const rows = [...text.matchAll(/^\|[^|]+\| (\d+) \| `(\w+)` \|$/gm)];
    expect(rows.length).toBeGreaterThan(5);
    const constants: Readonly<Record<string, unknown>> = protocol;
    for (const [, number, name] of rows)
      expect([name, constants[name as string]]).toEqual([name, Number(number)]);
  });
});

describe("the page of options", () => {
  const calls: OptionsByCall = { ...clientOptions, ...nodeOptions };
  const page = readFileSync(join(root, "docs/reference/options.md"), "utf8");
  const told = optionsTold(page);

  it("has every option of every call", () => {
    const missing = Object.entries(calls).flatMap(([call, options]) =>
      Object.keys(options)
        .filter((option) => !told.some((row) => row.option === option && isOf(row, call)))
        .map((option) => `${call}: ${option}`),
    );
    expect(missing).toEqual([]);
  });

  it("has no option that its call does not take", () => {
    expect(told.length).toBeGreaterThan(60);
    const strange = told.flatMap(({ option, of }) =>
      of.filter((call) => calls[call]?.[option] === undefined).map((call) => `${call}: ${option}`),
    );
    expect(strange).toEqual([]);
  });
});

describe("codeBlocksOf", () => {
  it("finds blocks, their language, whether they run, and where they stand", () => {
    const blocks = codeBlocksOf(
      "a.md",
      "text\n```ts run\na();\n```\n```sh\nb\n```\n```ts run SIGTERM\nc();\n```\n",
    );
    expect(blocks).toEqual([
      { place: "a.md:2", language: "ts", run: true, endsBy: "itself", text: "a();\n" },
      { place: "a.md:5", language: "sh", run: false, endsBy: "itself", text: "b\n" },
      { place: "a.md:8", language: "ts", run: true, endsBy: "SIGTERM", text: "c();\n" },
    ]);
  });

  it("refuses a block that never ends", () => {
    expect(() => codeBlocksOf("a.md", "```ts\na();\n")).toThrow(/a.md:1/);
  });
});
