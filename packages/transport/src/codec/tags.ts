/** The first field of every message between members. Numbers are never given to another shape. */
export const tags = {
  preVoteRequest: 1,
  preVoteResponse: 2,
  voteRequest: 3,
  voteResponse: 4,
  appendRequest: 5,
  appendMatched: 6,
  appendRejected: 7,
  heartbeat: 8,
  heartbeatResponse: 9,
  readIndexRequest: 10,
  readIndexResponse: 11,
  timeoutNow: 12,
  /** A vote request whose sender was told by the leader to campaign. */
  transferVoteRequest: 13,
  snapshotChunk: 14,
  snapshotResponse: 15,
  birthQuery: 32,
  birthPromise: 33,
  birthRefusal: 34,
  birthNotice: 35,
  birthAck: 36,
} as const;
