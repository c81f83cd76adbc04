/**
 * Reads of the store, of the present or of a kept revision, answered from memory in the turn in which they are made.
 * A count may take more turns, and is of the store as it was in the first.
 */
import type { RequestBody, ResponseBody } from "@quorate/client/protocol";
import { type Clock, QuorateError } from "@quorate/raft";
import {
  beginCount,
  type Counting,
  countOn,
  getPair,
  getPairAt,
  type ListedPairs,
  listPairs,
  listPairsAt,
  type StoreState,
  standingOf,
} from "../machine/index.ts";

export type StoreRead = Extract<RequestBody, { readonly kind: "get" | "list" }>;
type ListRead = Extract<StoreRead, { readonly kind: "list" }>;

export interface ReadPorts {
  readonly clock: Clock;
  readonly respond: (body: ResponseBody) => void;
  readonly failed: (error: QuorateError) => ResponseBody;
}

/** Pairs counted in one turn. */
const maxCountedPerTurn = 16_384;

export function readStore(store: StoreState, read: StoreRead, ports: ReadPorts): void {
  const { respond, failed } = ports;
  const { revision = store.revision } = read;
  const standing = standingOf(store, revision);
  if (standing.kind === "compacted") {
    respond(standing);
  } else if (standing.kind === "future") {
    respond(failed(futureRevision(revision, standing.revision, read.consistency === "local")));
  } else if (read.kind === "get") {
    const pair =
      revision === store.revision ? getPair(store, read.key) : getPairAt(store, read.key, revision);
    respond({ kind: "got", pair, revision });
  } else {
    list(store, read, revision, ports);
  }
}

function list(store: StoreState, read: ListRead, revision: number, { clock, respond }: ReadPorts): void {
  const { range } = read;
  const page: ListedPairs =
    revision === store.revision ? listPairs(store, range, read) : listPairsAt(store, range, revision, read);
  const { pairs, more } = page;
  if (read.count !== true) {
    respond({ kind: "listed", pairs, more, revision });
    return;
  }
  // The count is of all pages: the range of the first one is the whole.
  const counting: Counting = beginCount(store, range, revision);
  const goOn = (): void => {
    if (!countOn(counting, maxCountedPerTurn)) clock.defer(goOn);
    else respond({ kind: "listed", pairs, more, revision, count: counting.count });
  };
  goOn();
}

function futureRevision(wanted: number, present: number, isLocal: boolean): QuorateError {
  const advice = isLocal
    ? 'It may not have applied it yet: read without { consistency: "local" }.'
    : "It does not exist yet.";
  return new QuorateError(
    "FUTURE_REVISION",
    `The store is at revision ${present}, before ${wanted}. ${advice}`,
    {
      retryable: isLocal,
    },
  );
}
