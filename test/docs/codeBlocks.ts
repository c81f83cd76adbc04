/**
 * The code in the documentation. A block's first line says what a test does with it:
 *
 *   ```ts        is compiled        ```ts run    is compiled and run
 *   ```sh run    is run             ```sh        is read by people alone
 *
 * A program that goes on until it is asked to end is `ts run SIGTERM`: it is asked when it has printed something.
 */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { filesBelow, root } from "../tidy/houseFiles.ts";

export interface CodeBlock {
  /** `README.md:12`: where the block begins. */
  readonly place: string;
  readonly language: string;
  readonly run: boolean;
  /** By what it ends: by itself, or by this signal. */
  readonly endsBy: "itself" | "SIGTERM";
  readonly text: string;
}

export function codeBlocksOf(path: string, markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { info: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    const fence = /^```\s*(.*)$/.exec(line);
    if (fence === null) open?.lines.push(line);
    else if (open === undefined) open = { info: fence[1] ?? "", line: index + 1, lines: [] };
    else {
      const [language = "", ...words] = open.info.split(/\s+/);
      const text = `${open.lines.join("\n")}\n`;
      blocks.push({
        place: `${path}:${open.line}`,
        language,
        run: words.includes("run"),
        endsBy: words.includes("SIGTERM") ? "SIGTERM" : "itself",
        text,
      });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`${path}:${open.line}: a block of code that never ends`);
  return blocks;
}

/** Of the README, the guides, the reference, and the pages of the packages. */
export function allCodeBlocks(): CodeBlock[] {
  const paths = ["docs", "packages"]
    .flatMap((folder) => filesBelow(join(root, folder)))
    .map(({ path }) => path);
  return ["README.md", ...paths.filter((path) => path.endsWith(".md"))].flatMap((path) =>
    codeBlocksOf(path, readFileSync(join(root, path), "utf8")),
  );
}

/** Links to files of this repository, with the file that each stands in. */
export function localLinks(): { place: string; target: string }[] {
  const markdown = filesBelow(root).filter((file) => file.path.endsWith(".md"));
  return markdown.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(([^)#\s]+)(#[^)\s]*)?\)/g)]
      .map((match) => match[1] as string)
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => ({ place: path, target: relative(root, join(root, path, "..", target)) })),
  );
}
