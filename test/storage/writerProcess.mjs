/**
 * A process that opens a data directory and writes entries as fast as it can, saying on standard output
 * what was acknowledged: `open <boot> <k> <standing> <lastIndex> <mute?>`, then `ack <index> <k>` for each
 * write, and `failed <code> <message>` when one fails.
 *
 * node writerProcess.mjs DIRECTORY [ENTRIES_A_WRITE] [BYTES_AN_ENTRY]
 */
import { writeSync } from "node:fs";
import { votersOnly } from "@quorate/raft";
import { openDirectory } from "@quorate/storage";

const [, , directory, entriesAWrite = "1", bytesAnEntry = "200"] = process.argv;
const random = { uint32: () => Math.floor(Math.random() * 2 ** 32) };

function say(line) {
  writeSync(1, `${line}\n`);
}

const store = await openDirectory(directory, { nodeId: "a", random });
if (store.standing.kind === "unborn") {
  const { nodeId, incarnation } = store.identity;
  const voters = [{ id: `${nodeId}.${incarnation}`, address: "ws://127.0.0.1:7101" }];
  await store.bear({ clusterId: "c".repeat(32), configuration: votersOnly(voters) });
}
const { kind, restored } = store.standing;
say(
  `open ${store.boot} ${store.sequence} ${kind} ${restored?.lastIndex} ${restored?.floor ? "floor" : "whole"}`,
);

let index = restored.lastIndex;
const term = restored.term + 1;
for (let sequence = 1; ; sequence += 1) {
  const entries = [];
  for (let at = 0; at < Number(entriesAWrite); at += 1) {
    index += 1;
    entries.push({ index, term, kind: "command", data: Buffer.alloc(Number(bytesAnEntry), `${index} `) });
  }
  try {
    await store.write({
      sequence,
      term,
      vote: undefined,
      floor: undefined,
      truncateFrom: undefined,
      entries,
    });
  } catch (error) {
    say(`failed ${error.code} ${error.outcome} ${error.message}`);
    const again = await store.write({ sequence, term, entries: [] }).then(
      () => "acknowledged",
      (reason) => (reason === error ? "same" : "other"),
    );
    say(`then ${again}`);
    break;
  }
  say(`ack ${index} ${store.sequence}`);
}
await store.close();
