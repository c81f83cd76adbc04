/** What every slot file must do, whatever it is made of. Each case gets a fresh one from the caller. */
import type { SlotFile } from "@quorate/raft";
import { equalBytes } from "../log/bytes.ts";
import { slotBytes } from "../log/slot.ts";
import { bytes, type ConformanceCase, check, checkRejects } from "./check.ts";

/** A file that does not exist at first. `reopen` closes it, and gives what is there after a restart. */
export interface SlotFileUnderTest {
  readonly file: SlotFile;
  reopen(): Promise<SlotFile>;
}

export function slotFileSuite(make: () => Promise<SlotFileUnderTest>): readonly ConformanceCase[] {
  function withFile(
    name: string,
    body: (file: SlotFile, test: SlotFileUnderTest) => Promise<SlotFile>,
  ): ConformanceCase {
    const run = async (): Promise<void> => {
      const test = await make();
      const last = await body(test.file, test);
      await last.close();
    };
    return { name, run };
  }
  return [
    withFile("is not there before the first write", async (file) => {
      check((await file.read()) === undefined, "a file that nobody wrote is undefined");
      return file;
    }),
    withFile("has zeros in the slot that was not written", async (file) => {
      await file.write(1, bytes(1, 2, 3));
      await expectSlots(file, [], [1, 2, 3]);
      return file;
    }),
    withFile("overwrites one slot whole and leaves the other alone", async (file) => {
      await file.write(0, bytes(1, 1, 1, 1));
      await file.write(1, bytes(2, 2));
      await file.write(0, bytes(3));
      await expectSlots(file, [3], [2, 2]);
      return file;
    }),
    withFile("keeps both slots over a restart", async (file, { reopen }) => {
      await file.write(0, bytes(4));
      await file.write(1, bytes(5));
      const again = await reopen();
      await expectSlots(again, [4], [5]);
      await again.write(1, bytes(6));
      await expectSlots(again, [4], [6]);
      return again;
    }),
    withFile("takes a full slot and no more", async (file) => {
      await file.write(0, new Uint8Array(slotBytes).fill(7));
      await expectSlots(file, Array(slotBytes).fill(7), []);
      await checkRejects(file.write(1, new Uint8Array(slotBytes + 1)), "more than a slot is refused");
      return file;
    }),
  ];
}

async function expectSlots(file: SlotFile, zero: readonly number[], one: readonly number[]): Promise<void> {
  const content = await file.read();
  check(content !== undefined, "the file is there");
  const wanted = [zero, one].map((start) => bytes(...start, ...Array(slotBytes - start.length).fill(0)));
  for (const at of [0, 1] as const) {
    check(content !== undefined && equalBytes(content[at], wanted[at]!), `slot ${at} holds what was written`);
  }
}
