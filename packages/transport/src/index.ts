/** @quorate/transport: links between members, and the networks that carry them. */
export {
  createTransport,
  defaultPace,
  type MemoryNetworkOptions,
  memoryNetwork,
  type Pace,
  type PeerTransport,
  peerRole,
  type TransportOptions,
} from "./links.ts";
export { checkListenAddress, type TlsOptions, type WebSocketNetworkOptions } from "./websocket/options.ts";
export type { Page, PageRequest, Pages } from "./websocket/pages.ts";
export { websocketNetwork } from "./websocket/websocketNetwork.ts";
