/** A resource of one process that lets only the newest term act, over a restart too. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  FencedResource,
  fileTermStore,
  StaleTermError,
  type TermStore,
  termFrom,
  termHeader,
  termHeaders,
  termRefusal,
} from "@quorate/client/fencing";
import { QuorateError } from "@quorate/raft";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

interface MemoryStore extends TermStore {
  readonly written: number[];
  fails: boolean;
}

function memoryStore(term = 0): MemoryStore {
  const written: number[] = [];
  const store: MemoryStore = {
    written,
    fails: false,
    read: async () => written.at(-1) ?? term,
    async write(next) {
      if (store.fails) throw new Error("the disk is full");
      written.push(next);
    },
  };
  return store;
}

/** An act that ends when it is told to. */
function heldAct(): { act: () => Promise<void>; end: () => void; begun: Promise<void> } {
  let end = (): void => {};
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const act = async (): Promise<void> => {
    begin();
    await ended;
  };
  return { act, end, begun };
}

describe("a fenced resource", () => {
  it("refuses an older term, and lets the newest act again and at the same time", async () => {
    const resource = await FencedResource.open({ resource: "files", store: memoryStore() });
    const [first, second] = [heldAct(), heldAct()];
    const both = [resource.run(7, first.act), resource.run(7, second.act)];
    await Promise.all([first.begun, second.begun]);
    first.end();
    second.end();
    await Promise.all(both);
    await resource.run(9, () => {});
    await expect(resource.run(8, () => {})).rejects.toEqual(new StaleTermError("files", 8, 9));
  });

  it("waits with a newer term's first act until older acts have ended, and refuses older ones meanwhile", async () => {
    const store = memoryStore();
    const resource = await FencedResource.open({ resource: "files", store });
    const old = heldAct();
    const oldRun = resource.run(7, old.act);
    await old.begun;
    let acted = false;
    const newer = resource.run(9, () => {
      acted = true;
    });
    await expect(resource.run(7, () => {})).rejects.toMatchObject({ code: "STALE_TERM", highest: 9 });
    expect(acted).toBe(false);
    expect(store.written).toEqual([7]);
    old.end();
    await Promise.all([oldRun, newer]);
    expect(acted).toBe(true);
    expect(store.written).toEqual([7, 9]);
  });

  it("never acts under a term that could not be kept, and tries again with the next act", async () => {
    const store = memoryStore();
    const resource = await FencedResource.open({ resource: "files", store });
    await resource.run(7, () => {});
    store.fails = true;
    let acted = false;
    const failing = resource.run(9, () => {
      acted = true;
    });
    await expect(failing).rejects.toThrow("disk is full");
    expect(acted).toBe(false);
    await expect(resource.run(7, () => {})).rejects.toBeInstanceOf(StaleTermError);
    store.fails = false;
    await resource.run(9, () => {});
    expect(store.written).toEqual([7, 9]);
  });

  it("remembers over a restart", async () => {
    const store = memoryStore();
    await (await FencedResource.open({ resource: "files", store })).run(9, () => {});
    const again = await FencedResource.open({ resource: "files", store });
    await expect(again.run(8, () => {})).rejects.toBeInstanceOf(StaleTermError);
  });

  it("gives up waiting at its signal, and bounds how many wait", async () => {
    const resource = await FencedResource.open({ resource: "files", store: memoryStore(), maxWaiting: 1 });
    const old = heldAct();
    const oldRun = resource.run(7, old.act);
    await old.begun;
    const giveUp = new AbortController();
    const waiting = resource.run(9, () => {}, { signal: giveUp.signal });
    await expect(resource.run(10, () => {})).rejects.toMatchObject({ code: "OVERLOADED", retryable: true });
    giveUp.abort(new Error("no more time"));
    await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
    old.end();
    await oldRun;
    await resource.run(10, () => {});
  });

  it("passes on what the act gives and throws", async () => {
    const resource = await FencedResource.open({ resource: "files", store: memoryStore() });
    expect(await resource.run(1, () => "done")).toBe("done");
    await expect(resource.run(1, () => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
    await resource.run(2, () => {});
  });

  it("never lets an older act begin, or be under way, after a newer one began: any terms, any pauses", async () => {
    const step = fc.record({ term: fc.integer({ min: 1, max: 6 }), turns: fc.nat(4), fails: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const store = memoryStore();
        const resource = await FencedResource.open({ resource: "files", store });
        let newest = 0;
        const acting = new Map<number, number>();
        const runs = steps.map(({ term, turns, fails }) =>
          resource
            .run(term, async () => {
              expect(term).toBeGreaterThanOrEqual(newest);
              expect(store.written.at(-1)).toBe(term);
              expect([...acting].filter(([other, count]) => other !== term && count > 0)).toEqual([]);
              newest = term;
              acting.set(term, (acting.get(term) ?? 0) + 1);
              for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
              acting.set(term, (acting.get(term) ?? 0) - 1);
              if (fails) throw new Error("on purpose");
            })
            .catch((error: Error) => {
              if (!(error instanceof StaleTermError) && error.message !== "on purpose") throw error;
            }),
        );
        await Promise.all(runs);
        const highest = Math.max(0, ...steps.map(({ term }) => term));
        expect(resource.highest).toBe(highest);
      }),
      { numRuns: 200 },
    );
  });
});

describe("the file of the highest term", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "quorate-term-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("keeps it, and leaves nothing else behind", async () => {
    const store = fileTermStore(join(folder, "term"));
    expect(await store.read()).toBe(0);
    await store.write(7);
    await store.write(Number.MAX_SAFE_INTEGER);
    expect(await fileTermStore(join(folder, "term")).read()).toBe(Number.MAX_SAFE_INTEGER);
    expect(readdirSync(folder)).toEqual(["term"]);
  });

  it("is refused wherever it says nothing certain, and is never taken for 0", async () => {
    const path = join(folder, "term");
    await fileTermStore(path).write(42);
    const good = readFileSync(path, "utf8");
    for (let length = 0; length < good.length; length += 1) {
      writeFileSync(path, good.slice(0, length));
      await expect(fileTermStore(path).read()).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    }
    writeFileSync(path, good.replace("42", "41"));
    await expect(FencedResource.open({ resource: "files", store: fileTermStore(path) })).rejects.toThrow(
      /damaged/,
    );
  });
});

describe("a term over HTTP", () => {
  it("goes along in a header, and is refused with 409 or 428", () => {
    expect(termFrom(termHeaders(42))).toBe(42);
    expect(termRefusal(new StaleTermError("files", 7, 9))?.status).toBe(409);
    for (const wrong of [undefined, "", "0", "07", "-1", "1e3", "9007199254740992", ["1", "2"]]) {
      let refusal: unknown;
      try {
        termFrom({ [termHeader]: wrong });
      } catch (error) {
        refusal = error;
      }
      expect(termRefusal(refusal)?.status, String(wrong)).toBe(428);
    }
    expect(termRefusal(new Error("something else"))).toBeUndefined();
    // The act's own fault: the request was as it should be.
    expect(termRefusal(new QuorateError("INVALID_ARGUMENT", "The key is empty."))).toBeUndefined();
  });
});
