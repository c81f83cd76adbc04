/**
 * The highest term in a file: replaced whole and synced before a term acts, checked when it is read. A file that says
 * nothing certain is an error, never 0: that would let every term act again.
 */
import { open, readFile, rename } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { QuorateError } from "@quorate/raft";
import type { TermStore } from "./fencedResource.ts";

/** `{"quorateTerm":42,"again":42}`: said twice, so that a damaged digit is noticed. */
const content = /^\{"quorateTerm":(\d{1,16}),"again":(\d{1,16})\}\n$/;

/** Its directory has to exist, on a local disk. One process owns the file. */
export function fileTermStore(path: string): TermStore {
  const file = resolve(path);
  return {
    async read() {
      const text = await textOf(file);
      if (text === undefined) return 0;
      const [, term, again] = content.exec(text) ?? [];
      const value = Number(term);
      if (term !== undefined && term === again && Number.isSafeInteger(value)) return value;
      throw new QuorateError(
        "STORAGE_FAILED",
        `${file} does not hold a term: it is damaged, or another's. Nothing acts until it is put right. Write the ` +
          `highest term that may have acted, the lease's present one at least: {"quorateTerm":N,"again":N} and a newline.`,
      );
    },
    async write(term) {
      const fresh = `${file}.new`;
      await writeSynced(fresh, `{"quorateTerm":${term},"again":${term}}\n`);
      await rename(fresh, file);
      // Without this the new name may be gone after a power cut, and with it the term.
      const folder = await open(dirname(file), "r");
      try {
        await folder.sync();
      } finally {
        await folder.close();
      }
    },
  };
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function writeSynced(file: string, text: string): Promise<void> {
  const handle = await open(file, "w");
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
