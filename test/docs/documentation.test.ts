/** What the documentation says can be checked: its links lead somewhere, its numbers are those of the code. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as protocol from "@quorate/client/protocol";
import { describe, expect, it } from "vitest";
import { root } from "../tidy/houseFiles.ts";
import { codeBlocksOf, localLinks } from "./codeBlocks.ts";

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

describe("codeBlocksOf", () => {
  it("finds blocks, their language, whether they run, and where they stand", () => {
    const blocks = codeBlocksOf("a.md", "text\n```ts run\na();\n```\n```sh\nb\n```\n");
    expect(blocks).toEqual([
      { place: "a.md:2", language: "ts", run: true, text: "a();\n" },
      { place: "a.md:5", language: "sh", run: false, text: "b\n" },
    ]);
  });

  it("refuses a block that never ends", () => {
    expect(() => codeBlocksOf("a.md", "```ts\na();\n")).toThrow(/a.md:1/);
  });
});
