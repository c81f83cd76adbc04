/**
 * @quorate/transport/links: everything but the WebSockets, for simulators and clients in tests. Does not load
 * `ws`.
 */
export {
  asText,
  isAddress,
  isBytes,
  isClusterId,
  isCount,
  isFlag,
  isListOf,
  isMember,
  isNode,
  isString,
  isText,
  isTuple,
  isWithin,
} from "./codec/fields.ts";
export { decodeFrame, encodeFrame, type Frame } from "./codec/frame.ts";
export { isPositional, type Positional, pack, unpack } from "./codec/positional.ts";
export { FrameDecoder, FrameEncoder } from "./codec/repeatedFrames.ts";
export * from "./limits.ts";
export { createTransport, type PeerTransport, type TransportOptions } from "./links/createTransport.ts";
export { defaultPace, type Pace } from "./links/pace.ts";
export { peerRole, readPeerHello, writePeerHello } from "./links/peerHello.ts";
export {
  formatVersions,
  type Negotiated,
  negotiate,
  parseVersions,
  peerVersions,
  type VersionRange,
} from "./links/versions.ts";
export { type Address, formatAddress, isLoopback, parseAddress } from "./network/address.ts";
export { type NetworkCase, type NetworkUnderTest, networkConformance } from "./network/conformance.ts";
export { checkHello, helloFault } from "./network/helloFields.ts";
export { type MemoryNetworkOptions, memoryNetwork } from "./network/memoryNetwork.ts";
export { seal, unseal } from "./websocket/sealedFrame.ts";
