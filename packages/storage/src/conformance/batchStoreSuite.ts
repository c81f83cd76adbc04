/** What every batch store must do, whatever it is made of. Each case gets a fresh one from the caller. */
import type { BatchOperation, BatchStore } from "@quorate/raft";
import { equalBytes } from "../log/bytes.ts";
import { bytes, type ConformanceCase, check, checkRejects } from "./check.ts";

/** A store that is empty at first. `reopen` closes it, and gives what is there after a restart. */
export interface BatchStoreUnderTest {
  readonly store: BatchStore;
  reopen(): Promise<BatchStore>;
}

/** Gets an empty store; the one that it returns is closed at the end. */
type Body = (store: BatchStore, test: BatchStoreUnderTest) => Promise<BatchStore>;

export function batchStoreSuite(make: () => Promise<BatchStoreUnderTest>): readonly ConformanceCase[] {
  return cases.map(([name, body]) => ({
    name,
    run: async () => {
      const test = await make();
      const last = await body(test.store, test);
      await last.close();
    },
  }));
}

const cases: readonly (readonly [name: string, body: Body])[] = [
  [
    "gives back what was put, and undefined for what was not",
    async (store) => {
      await store.write([put([1], [10, 11]), put([2], [])]);
      await expectValue(store, [1], [10, 11]);
      await expectValue(store, [2], []);
      await expectValue(store, [3], undefined);
      return store;
    },
  ],
  [
    "applies the operations of a batch in order",
    async (store) => {
      await store.write([put([1], [1]), remove([1]), put([2], [1]), put([2], [2])]);
      await expectValue(store, [1], undefined);
      await expectValue(store, [2], [2]);
      return store;
    },
  ],
  [
    "deletes what is there, and does not mind what is not",
    async (store) => {
      await store.write([put([1], [1])]);
      await store.write([remove([1]), remove([9])]);
      await expectValue(store, [1], undefined);
      return store;
    },
  ],
  [
    "lists a range in byte order, its start included and its end not",
    async (store) => {
      await store.write([[2], [1, 255], [1], [255], [1, 0], [128]].map((key) => put(key, key)));
      await expectKeys(store, [1], [128], 100, [[1], [1, 0], [1, 255], [2]]);
      await expectKeys(store, [3], [128], 100, []);
      await expectKeys(store, [128], [255], 100, [[128]]);
      return store;
    },
  ],
  [
    "stops a range at its limit, and not before",
    async (store) => {
      const keys = Array.from({ length: 3000 }, (_, at) => [at >>> 8, at & 255]);
      await store.write(keys.map((key) => put(key, Array(100).fill(7))));
      await expectKeys(store, [0], [255], 2500, keys.slice(0, 2500));
      await expectKeys(store, [0], [255], 5000, keys);
      return store;
    },
  ],
  [
    "keeps every batch over a restart",
    async (store, { reopen }) => {
      for (let at = 0; at < 20; at += 1) await store.write([put([at], [at]), put([200], [at])]);
      const again = await reopen();
      for (let at = 0; at < 20; at += 1) await expectValue(again, [at], [at]);
      await expectValue(again, [200], [19]);
      return again;
    },
  ],
  [
    "keeps its own copy of what it was given",
    async (store) => {
      const value = bytes(1, 2, 3);
      await store.write([{ kind: "put", key: bytes(1), value }]);
      value.fill(9);
      await expectValue(store, [1], [1, 2, 3]);
      return store;
    },
  ],
  [
    "takes operations as they are made, each once, and none of a batch of which one cannot be made",
    async (store) => {
      const broken = function* (): Generator<BatchOperation, void> {
        yield put([1], [1]);
        throw new Error("there is no second one");
      };
      await checkRejects(store.write(broken()), "a batch that is not whole is not written");
      await expectValue(store, [1], undefined);
      const many = function* (): Generator<BatchOperation, void> {
        for (let at = 0; at < 3_000; at += 1) yield put([at >>> 8, at & 255], [at & 255]);
      };
      await store.write(many());
      await expectValue(store, [0, 1], [1]);
      await expectValue(store, [11, 183], [183]);
      return store;
    },
  ],
  [
    "takes values of a megabyte",
    async (store) => {
      const value = new Uint8Array(1024 * 1024).fill(5);
      await store.write([{ kind: "put", key: bytes(1), value }]);
      const found = await store.get(bytes(1));
      check(found !== undefined && equalBytes(found, value), "a megabyte comes back as it was");
      return store;
    },
  ],
  [
    "rejects everything once it is closed, and closes again without harm",
    async (store) => {
      await store.close();
      await checkRejects(store.write([put([1], [1])]), "a closed store writes nothing");
      await checkRejects(store.get(bytes(1)), "a closed store reads nothing");
      return store;
    },
  ],
];

function put(key: readonly number[], value: readonly number[]): BatchOperation {
  return { kind: "put", key: bytes(...key), value: bytes(...value) };
}

function remove(key: readonly number[]): BatchOperation {
  return { kind: "delete", key: bytes(...key) };
}

async function expectValue(
  store: BatchStore,
  key: readonly number[],
  value: readonly number[] | undefined,
): Promise<void> {
  const found = await store.get(bytes(...key));
  const same =
    value === undefined ? found === undefined : found !== undefined && equalBytes(found, bytes(...value));
  check(same, `key ${key} holds ${value}, not ${found}`);
}

async function expectKeys(
  store: BatchStore,
  from: readonly number[],
  to: readonly number[],
  limit: number,
  keys: readonly (readonly number[])[],
): Promise<void> {
  const found = await store.range(bytes(...from), bytes(...to), limit);
  const listed = found.map(([key]) => key.join(" ")).join("; ");
  check(
    listed === keys.map((key) => key.join(" ")).join("; "),
    `from ${from} to ${to} lie ${keys.length} keys`,
  );
}
