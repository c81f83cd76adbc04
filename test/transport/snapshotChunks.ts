/** Chunks of snapshots as they may come over a wire, and what their type says, checked without the code under test. */
import { asIndex, type Configuration, type PeerMessage, type Term } from "@quorate/raft";
import fc from "fast-check";

const checksum = fc.nat(0xffff_ffff);

export function chunks(
  term: fc.Arbitrary<Term>,
  session: fc.Arbitrary<number>,
  configuration: fc.Arbitrary<Configuration>,
): fc.Arbitrary<PeerMessage> {
  return fc
    .record({
      term,
      session,
      at: fc.integer({ min: 1, max: 1_000_000 }),
      chain: checksum,
      checksum,
      configuration,
      offset: fc.nat(1_000_000),
      after: fc.nat(1_000_000),
      data: fc.uint8Array({ maxLength: 64 }),
    })
    .map(
      ({
        term: of,
        session,
        at,
        chain,
        checksum: sum,
        configuration: members,
        offset,
        after,
        data,
      }): PeerMessage => {
        const header = {
          boundary: { index: asIndex(at), term: of },
          chain,
          configuration: { index: asIndex(at - 1), configuration: members },
          bytes: offset + data.length + after,
          checksum: sum,
        };
        return { kind: "snapshotChunk", term: of, session, header, offset, data };
      },
    );
}

export function isChunkInShape(message: Extract<PeerMessage, { kind: "snapshotChunk" }>): boolean {
  const { header, offset, data } = message;
  const { boundary, configuration, bytes } = header;
  const numbers = [
    message.session,
    boundary.term,
    header.chain,
    configuration.index,
    header.checksum,
    offset,
  ];
  return (
    numbers.every((value) => Number.isSafeInteger(value) && value >= 0) &&
    boundary.index >= Math.max(1, configuration.index) &&
    boundary.term <= message.term &&
    configuration.configuration.voters.length > 0 &&
    offset + data.length <= bytes
  );
}
