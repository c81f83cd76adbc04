/**
 * The `ws` package, taken by `require`. Imported, Node.js would first read each of its CommonJS files for the
 * names that it exports, which costs a node's start more than running them. Nothing else loads `ws`.
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const ws = require("ws") as typeof import("ws");

export const WebSocket: typeof ws.WebSocket = ws.WebSocket;
export const WebSocketServer: typeof ws.WebSocketServer = ws.WebSocketServer;
