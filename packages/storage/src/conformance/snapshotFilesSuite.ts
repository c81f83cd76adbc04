/** What snapshot files must do, whatever they are made of. Each case gets fresh ones from the caller. */
import type { SnapshotFiles } from "@quorate/raft";
import { equalBytes } from "../log/bytes.ts";
import { bytes, type ConformanceCase, check, checkRejects } from "./check.ts";

/** No files at first. `reopen` closes them, and gives what is there after a restart. */
export interface SnapshotFilesUnderTest {
  readonly files: SnapshotFiles;
  reopen(): Promise<SnapshotFiles>;
}

/** Gets no files; those that it returns are closed at the end. */
type Body = (files: SnapshotFiles, test: SnapshotFilesUnderTest) => Promise<SnapshotFiles>;

export function snapshotFilesSuite(make: () => Promise<SnapshotFilesUnderTest>): readonly ConformanceCase[] {
  return cases.map(([name, body]) => ({
    name,
    run: async () => {
      const test = await make();
      const last = await body(test.files, test);
      await last.close();
    },
  }));
}

const cases: readonly (readonly [name: string, body: Body])[] = [
  [
    "has no files at first, and none to read",
    async (files) => {
      await expectFiles(files, {});
      await checkRejects(files.read("a", 0, 10), "a file that is not there is not read");
      return files;
    },
  ],
  [
    "keeps what was appended and synced over a restart, each file its own",
    async (files, { reopen }) => {
      await files.create("a.partial");
      await files.create("b.partial");
      await files.append("a.partial", bytes(1, 2));
      await files.append("b.partial", bytes(9));
      await files.append("a.partial", bytes(3));
      for (const name of ["a.partial", "b.partial"]) await files.sync(name);
      await files.syncNames();
      const again = await reopen();
      await expectFiles(again, { "a.partial": [1, 2, 3], "b.partial": [9] });
      return again;
    },
  ],
  [
    "reads a part, and no more than there is",
    async (files) => {
      await files.create("a");
      await files.append("a", bytes(0, 1, 2, 3, 4));
      await expectPart(files, 1, 3, [1, 2, 3]);
      await expectPart(files, 3, 10, [3, 4]);
      await expectPart(files, 5, 10, []);
      await expectPart(files, 99, 10, []);
      return files;
    },
  ],
  [
    "empties a file that is made again",
    async (files) => {
      await files.create("a");
      await files.append("a", bytes(1));
      await files.create("a");
      await files.append("a", bytes(2));
      await expectFiles(files, { a: [2] });
      return files;
    },
  ],
  [
    "gives a file its name in the place of another",
    async (files, { reopen }) => {
      for (const [name, content] of Object.entries({ old: [1], new: [2, 2] })) {
        await files.create(name);
        await files.append(name, bytes(...content));
        await files.sync(name);
      }
      await files.rename("new", "old");
      await files.syncNames();
      await expectFiles(files, { old: [2, 2] });
      const again = await reopen();
      await expectFiles(again, { old: [2, 2] });
      return again;
    },
  ],
  [
    "removes a file, and does not mind one that is not there",
    async (files, { reopen }) => {
      await files.create("a");
      await files.append("a", bytes(1));
      await files.remove("a");
      await files.remove("b");
      await files.syncNames();
      await expectFiles(files, {});
      const again = await reopen();
      await expectFiles(again, {});
      return again;
    },
  ],
  [
    "keeps its own copy of what it was given, and takes megabytes",
    async (files) => {
      const piece = new Uint8Array(1_048_576).fill(5);
      await files.create("a");
      await files.append("a", piece);
      piece.fill(6);
      await files.append("a", piece);
      const read = await files.read("a", 1_048_575, 2);
      check(equalBytes(read, bytes(5, 6)), "each piece as it was when it was appended");
      return files;
    },
  ],
];

async function expectFiles(files: SnapshotFiles, wanted: Readonly<Record<string, number[]>>): Promise<void> {
  const found = await files.list();
  const sizes = Object.fromEntries(found.map(({ name, bytes: length }) => [name, length]));
  const names = Object.keys(wanted);
  check(found.length === names.length, `the files are ${names.join(", ")}, and not ${Object.keys(sizes)}`);
  for (const name of names) {
    const content = bytes(...wanted[name]!);
    check(sizes[name] === content.length, `${name} has ${content.length} bytes`);
    check(equalBytes(await files.read(name, 0, 100), content), `${name} holds what was appended`);
  }
}

async function expectPart(
  files: SnapshotFiles,
  offset: number,
  maxBytes: number,
  wanted: number[],
): Promise<void> {
  const part = await files.read("a", offset, maxBytes);
  check(equalBytes(part, bytes(...wanted)), `at most ${maxBytes} bytes from ${offset} on are ${wanted}`);
}
