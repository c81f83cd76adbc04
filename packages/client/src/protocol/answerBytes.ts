/** What a result costs where it is kept or sent, in bytes: about, and the same on every node. */
import type { CommandResult } from "./commands.ts";
import { pairOverheadBytes } from "./limits.ts";
import type { StoredPair } from "./requests.ts";

/** Of the pairs that a transaction has read, and of sentences; other results are small. */
export function answerBytes(result: CommandResult): number {
  switch (result.kind) {
    case "transacted": {
      let bytes = pairOverheadBytes * (1 + result.results.length);
      for (const each of result.results) {
        if (each.kind === "listed") for (const pair of each.pairs) bytes += pairBytes(pair);
        else if (each.kind === "got" && each.pair !== undefined) bytes += pairBytes(each.pair);
      }
      return bytes;
    }
    case "malformed":
    case "refused":
    case "tooLarge":
      return pairOverheadBytes + result.reason.length;
    default:
      return pairOverheadBytes;
  }
}

function pairBytes({ key, value }: StoredPair): number {
  return pairOverheadBytes + key.length + value.length;
}
