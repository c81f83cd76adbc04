/**
 * Every bound of the wire in one place: what may be longer, deeper or more than this is refused, never
 * truncated in silence. The numbers leave an order of magnitude between what Quorate sends and what it takes.
 */

/**
 * Bytes in one frame, in either direction. A larger one closes the connection that carries it (WebSocket
 * 1009).
 */
export const maxFrameBytes: number = 16 * 1024 * 1024;

/** Bytes of entry data that a sender puts into one frame before it begins the next. */
export const frameTargetBytes: number = 4 * 1024 * 1024;

/** Content of a snapshot in one message. */
export const maxChunkBytes: number = 1024 * 1024;

/** A configuration in a message. */
export const maxConfigurationBytes: number = 64 * 1024;

/** Values in one frame: arrays and their items, so that a small frame cannot grow into a large heap. */
export const maxFrameValues: number = 1024 * 1024;

/** Arrays inside arrays. */
export const maxFrameDepth = 16;

/** Characters of an address, `wss://host:port`. */
export const maxAddressLength = 255;

/** Characters of a sentence that is shown to the other side. */
export const maxReasonLength = 500;

/** Nodes that a message may list. */
export const maxListedNodes = 64;

/** Fields of a hello, and the characters of each value. */
export const maxHelloFields = 24;
export const maxHelloValueLength = 512;

/** Connections that a node accepts from other members at the same time. */
export const maxIncomingPeers = 128;
