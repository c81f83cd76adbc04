/**
 * A birth as it is stored: its checksum, the cluster id, the encoded configuration.
 *
 * The checksum is the chain's first value (`Membership.genesis`), so a birth is verified against the state
 * record that names it, and a log never continues the birth of another cluster.
 */
import { crc32 } from "node:zlib";
import { type Birth, decodeConfiguration, encodeConfiguration } from "@quorate/raft";
import { getUint32, putUint32 } from "./bytes.ts";

const clusterIdDigits = 32;
const clusterIdPattern = /^[0-9a-f]{32}$/;

export interface EncodedBirth {
  readonly bytes: Uint8Array;
  readonly genesis: number;
}

export function encodeBirth(birth: Birth): EncodedBirth {
  if (!clusterIdPattern.test(birth.clusterId)) {
    throw new RangeError(`A cluster id has 32 hexadecimal digits, not ${JSON.stringify(birth.clusterId)}.`);
  }
  const configuration = encodeConfiguration(birth.configuration);
  const bytes = Buffer.allocUnsafe(4 + clusterIdDigits + configuration.length);
  bytes.write(birth.clusterId, 4, "latin1");
  bytes.set(configuration, 4 + clusterIdDigits);
  const genesis = crc32(bytes.subarray(4));
  putUint32(bytes, 0, genesis);
  return { bytes, genesis };
}

/** Undefined where it is damaged, or is another birth than the one expected. */
export function decodeBirth(bytes: Uint8Array, genesis: number): Birth | undefined {
  if (bytes.length < 4 + clusterIdDigits || getUint32(bytes, 0) !== genesis) return undefined;
  if (crc32(bytes.subarray(4)) !== genesis) return undefined;
  const clusterId = Buffer.from(bytes.subarray(4, 4 + clusterIdDigits)).toString("latin1");
  const configuration = decodeConfiguration(bytes.subarray(4 + clusterIdDigits));
  return configuration === undefined ? undefined : { clusterId, configuration };
}
