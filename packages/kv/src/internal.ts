/** @quorate/kv/internal: for sister packages, simulators and tests. No promise of stability; no WebSocket, no disk. */
export {
  type AssembledNode,
  assembleNode,
  type NodeOptions,
  type NodePorts,
} from "./assembleNode.ts";
export { nodeOptions } from "./optionNames.ts";
export { NodePages } from "./pages/nodePages.ts";
export {
  type ClientServer,
  createClientServer,
  type ServerOptions,
  type ServerPorts,
} from "./server/clientServer.ts";
export { LeaseClock, type LeaseClockPorts } from "./server/leaseClock.ts";
export { createMachineHost, type MachineHost } from "./server/machineHost.ts";
export { answerMemberRequest } from "./server/memberRequests.ts";
export { Office, type Verdict } from "./server/office.ts";
export { commitIndexIn, OwnRemoval, type ToldMembership } from "./server/ownRemoval.ts";
export { defaultServerLimits, type ServerLimits } from "./server/serverLimits.ts";
export {
  SessionClock,
  type SessionClockOptions,
  type SessionClockPorts,
} from "./server/sessionClock.ts";
