/** What can happen to a node's files while it is down. Each is done to the directory of one node of three. */
import { cp, open, readdir, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";

export interface Directories {
  /** Of the node that is down. */
  readonly own: string;
  /** A copy of it from some time before. */
  readonly older: string;
  /** Of a node that runs. */
  readonly others: string;
}

export type Damage = (directories: Directories) => Promise<void>;

const slotBytes = 4_096;

/** The largest file of the log with this ending: what a flipped byte most likely hits. */
async function largest(directory: string, ending: ".log" | ".ldb"): Promise<string> {
  const folder = join(directory, "log");
  const names = (await readdir(folder)).filter((name) => name.endsWith(ending));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  const size = Math.max(...sizes);
  const name = names[sizes.indexOf(size)];
  if (name === undefined || size === 0) throw new Error(`No ${ending} file with anything in it in ${folder}`);
  return join(folder, name);
}

/** `at` is a fraction of the file's size. */
async function flipByte(path: string, at: number): Promise<void> {
  const file = await open(path, "r+");
  try {
    const position = Math.floor((await file.stat()).size * at);
    await flipAt(file, position);
  } finally {
    await file.close();
  }
}

async function flipAt(file: Awaited<ReturnType<typeof open>>, position: number): Promise<void> {
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, position);
  byte[0] = (byte[0] as number) ^ 0x40;
  await file.write(byte, 0, 1, position);
}

/** A slot holds its record twice: damaging one copy is not the same as damaging both. */
async function flipSlots(directory: string, slots: readonly number[], copies: 1 | 2): Promise<void> {
  const file = await open(join(directory, "witness"), "r+");
  try {
    for (const slot of slots) {
      for (let copy = 0; copy < copies; copy += 1) {
        await flipAt(file, slot * slotBytes + copy * (slotBytes / 2) + 20);
      }
    }
  } finally {
    await file.close();
  }
}

async function replaceBy(source: string, directory: string): Promise<void> {
  await rm(directory, { recursive: true });
  await cp(source, directory, { recursive: true });
}

export const damages: readonly (readonly [title: string, damage: Damage])[] = [
  [
    "one byte in the middle of the .log file flipped",
    async ({ own }) => flipByte(await largest(own, ".log"), 0.5),
  ],
  [
    "one byte near the end of the .log file flipped",
    async ({ own }) => flipByte(await largest(own, ".log"), 0.99),
  ],
  [
    "the .log file cut in half",
    async ({ own }) => {
      const path = await largest(own, ".log");
      await truncate(path, Math.floor((await stat(path)).size / 2));
    },
  ],
  ["the .log file emptied", async ({ own }) => truncate(await largest(own, ".log"), 0)],
  ["the .log file deleted", async ({ own }) => rm(await largest(own, ".log"))],
  ["one byte of an .ldb file flipped", async ({ own }) => flipByte(await largest(own, ".ldb"), 0.4)],
  ["one byte of one witness slot flipped", async ({ own }) => flipSlots(own, [0], 1)],
  ["one byte of both witness slots flipped", async ({ own }) => flipSlots(own, [0, 1], 1)],
  ["the first witness slot ruined", async ({ own }) => flipSlots(own, [0], 2)],
  ["the second witness slot ruined", async ({ own }) => flipSlots(own, [1], 2)],
  ["both witness slots ruined", async ({ own }) => flipSlots(own, [0, 1], 2)],
  ["the witness file deleted", async ({ own }) => rm(join(own, "witness"))],
  ["the directory wiped", async ({ own }) => rm(own, { recursive: true })],
  ["the directory put back from an older copy", async ({ own, older }) => replaceBy(older, own)],
  ["another node's directory in its place", async ({ own, others }) => replaceBy(others, own)],
];
