/**
 * Requests and responses as frames. The field checks are in the protocol layer and the bytes are the transport's; here
 * only what belongs together in one frame is decided. Both ends use this file.
 */
import { frameTargetBytes, pack, unpack } from "@quorate/transport/links";
import {
  answerBytes,
  changeBytes,
  type LeaseReport,
  type Request,
  type RequestBody,
  type Response,
  type ResponseBody,
  requestsFromWire,
  requestsToWire,
  responsesFromWire,
  responsesToWire,
  unreachable,
} from "./protocol/index.ts";

/** Counted for each request or response besides its keys, values and sentences. */
const overheadBytes = 64;
/** For each session, with its version, of a request that renews many. */
const renewalBytes = 18;

/** In order; a frame ends before it would exceed the target, but holds one request at least. */
export function requestFrames(requests: readonly Request[]): Uint8Array[] {
  return split(requests, (request) => requestBytes(request.body)).map((some) => pack(requestsToWire(some)));
}

export function responseFrames(responses: readonly Response[]): Uint8Array[] {
  return split(responses, (response) => responseBytes(response.body)).map((some) =>
    pack(responsesToWire(some)),
  );
}

/** Undefined where anything in the frame is wrong: its sender is broken or hostile. */
export function readRequests(frame: Uint8Array): readonly Request[] | undefined {
  return requestsFromWire(unpack(frame));
}

export function readResponses(frame: Uint8Array): readonly Response[] | undefined {
  return responsesFromWire(unpack(frame));
}

/** About how many bytes it takes on the wire. */
export function requestBytes(body: RequestBody): number {
  switch (body.kind) {
    case "execute":
      return overheadBytes + body.proposal.length;
    case "get":
      return overheadBytes + body.key.length;
    case "list":
      return overheadBytes + body.range.from.length + body.range.to.length;
    case "keepAlive":
    case "status":
    case "transfer":
    case "listMembers":
    case "joinCluster":
    case "takeSnapshot":
    case "snapshotPart":
    case "renew":
    case "awaitSession":
    case "listSessions":
    case "watchCredit":
    case "unwatch":
      return overheadBytes;
    case "renewAll":
      return overheadBytes + renewalBytes * body.sessions.length;
    case "getLease":
    case "leaseHistory":
    case "awaitLease":
    case "listCandidates":
      return overheadBytes + body.name.length;
    case "listLeases":
    case "watch":
      return overheadBytes + body.range.from.length + body.range.to.length;
    case "changeMembers":
      return overheadBytes * (1 + body.changes.length);
    default:
      return unreachable(body);
  }
}

export function responseBytes(body: ResponseBody): number {
  switch (body.kind) {
    case "got":
      return overheadBytes + (body.pair === undefined ? 0 : body.pair.key.length + body.pair.value.length);
    case "listed": {
      let bytes = overheadBytes;
      for (const pair of body.pairs) bytes += overheadBytes + pair.key.length + pair.value.length;
      return bytes;
    }
    case "status": {
      const { members, complaints } = body.status;
      return overheadBytes * (4 + 2 * members.length) + complaints.join().length;
    }
    case "snapshotPart":
      return overheadBytes + body.bytes.length;
    case "snapshotTaken":
    case "members":
      return overheadBytes * (1 + 2 * body.membership.members.length);
    case "sessionState":
      return overheadBytes + overheadBytes * (body.set?.leases.length ?? 0);
    case "renewedAll":
      return overheadBytes + renewalBytes * body.apart.length;
    case "lease":
      return overheadBytes + leaseBytes(body.lease);
    case "leaseHistory":
      return overheadBytes * (1 + 2 * body.past.length) + leaseBytes(body.lease);
    case "leases": {
      let bytes = overheadBytes;
      for (const lease of body.leases) bytes += leaseBytes(lease);
      return bytes;
    }
    case "candidates":
      return overheadBytes * (1 + 2 * body.candidates.length);
    case "sessions":
      return overheadBytes * (1 + body.sessions.length);
    case "failed":
      return overheadBytes + body.failure.message.length;
    case "executed":
      return overheadBytes + answerBytes(body.result);
    case "changed": {
      let bytes = overheadBytes;
      for (const change of body.changes) bytes += overheadBytes + changeBytes(change);
      return bytes;
    }
    case "keptAlive":
    case "transferred":
    case "compacted":
    case "watching":
    case "watchProgress":
    case "overflowed":
      return overheadBytes;
    default:
      return unreachable(body);
  }
}

function leaseBytes({ name, holder, data }: LeaseReport): number {
  return 2 * overheadBytes + name.length + holder.length + data.length;
}

function split<T>(items: readonly T[], bytesOf: (item: T) => number): T[][] {
  const frames: T[][] = [];
  let frame: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const itemBytes = bytesOf(item);
    if (frame.length > 0 && bytes + itemBytes > frameTargetBytes) {
      frames.push(frame);
      frame = [];
      bytes = 0;
    }
    frame.push(item);
    bytes += itemBytes;
  }
  if (frame.length > 0) frames.push(frame);
  return frames;
}
