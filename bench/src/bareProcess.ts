/**
 * The least that three processes can do that exchange an idle cluster's frames: every 50 ms one of them sends each of
 * the others a frame of a heartbeat's size, and they answer, each over the connection that it dialled itself.
 *
 *   node bareProcess.js <own port> <leader port> <other port>...
 */
import { WebSocket, WebSocketServer } from "ws";

const heartbeatMs = 50;
const frame = new Uint8Array(20);

const [own, leader, ...others] = process.argv.slice(2).map(Number) as [number, number, ...number[]];
const leads = own === leader;
const server = new WebSocketServer({ host: "127.0.0.1", port: own, perMessageDeflate: false });
const outgoing = new Map<number, WebSocket>();
const targets = leads ? others : [leader];

function dial(port: number): void {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  socket.on("open", () => {
    outgoing.set(port, socket);
    if (outgoing.size === targets.length) process.send?.("linked");
  });
  socket.on("error", () => setTimeout(() => dial(port), heartbeatMs));
}

server.on("connection", (socket) => {
  socket.on("message", () => {
    if (!leads) outgoing.get(leader)?.send(frame);
  });
});
for (const port of targets) dial(port);
if (leads) {
  setInterval(() => {
    for (const socket of outgoing.values()) socket.send(frame);
  }, heartbeatMs);
}
process.on("disconnect", () => process.exit(0));
