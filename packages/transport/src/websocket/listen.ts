/**
 * One port that takes WebSocket connections: the HTTP server below, the judgement at the upgrade, and the
 * end.
 *
 * Who connects is judged on the headers of its request alone, the secret first. Until then nothing of it is
 * decoded but HTTP, whose parser is bounded in bytes and in time; whatever else arrives is answered with a
 * sentence.
 */
import { createServer, type IncomingMessage, type Server, type ServerOptions } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  type Answer,
  type Channel,
  type Hello,
  type Listener,
  QuorateError,
  type Refusal,
} from "@quorate/raft";
import { WebSocketServer } from "ws";

import { type Address, formatAddress, parseAddress } from "../network/address.ts";
import { checkHello, helloFault } from "../network/helloFields.ts";
import {
  challengeHeader,
  headerOf,
  headersToHello,
  helloToHeaders,
  nonceHeader,
  proofHeader,
} from "./helloHeaders.ts";
import type { Liveness } from "./liveness.ts";
import { type ResolvedOptions, socketSettings } from "./options.ts";
import { PlainAnswers } from "./pages.ts";
import { answerAndEnd, refuse } from "./refusalAnswers.ts";
import { Challenges, isProof, type ProofFacts, prove } from "./secret.ts";
import { WebSocketChannel } from "./webSocketChannel.ts";

/** Sockets beyond the accepted connections: those that are still saying who they are. */
const handshakeAllowance = 128;

export async function listenWebSocket(
  address: string,
  accept: (hello: Hello) => Answer,
  options: ResolvedOptions,
  liveness: Liveness,
): Promise<Listener> {
  const port = new WebSocketPort(parseAddress(address), accept, options, liveness);
  await port.listen();
  return port;
}

class WebSocketPort implements Listener {
  readonly #wanted: Address;
  readonly #accept: (hello: Hello) => Answer;
  readonly #options: ResolvedOptions;
  readonly #liveness: Liveness;
  readonly #server: Server;
  readonly #upgrader: WebSocketServer;
  readonly #answers = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>();
  readonly #challenges = new Challenges();
  readonly #channels = new Set<WebSocketChannel>();
  #address = "";
  #closed: Promise<void> | undefined;

  constructor(
    wanted: Address,
    accept: (hello: Hello) => Answer,
    options: ResolvedOptions,
    liveness: Liveness,
  ) {
    this.#wanted = wanted;
    this.#accept = accept;
    this.#options = options;
    this.#liveness = liveness;
    this.#server = makeServer(wanted, options);
    this.#server.maxConnections = options.maxConnections + handshakeAllowance;
    const plain = new PlainAnswers(options, this.#challenges);
    this.#server.on("request", (request, response) => plain.answer(request, response));
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    this.#server.on("clientError", (error, socket) => this.#answerGarbage(error, socket));
    this.#upgrader = new WebSocketServer({
      ...socketSettings(options),
      noServer: true,
      clientTracking: false,
    });
    this.#upgrader.on("headers", (headers, request) => {
      for (const [name, value] of Object.entries(this.#answers.get(request) ?? {}))
        headers.push(`${name}: ${value}`);
    });
  }

  get address(): string {
    return this.#address;
  }

  async listen(): Promise<void> {
    const { host, port } = this.#wanted;
    await new Promise<void>((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException): void =>
        reject(listenError(formatAddress(this.#wanted), error));
      this.#server.once("error", fail);
      this.#server.listen({ host, port, exclusive: true }, () => {
        this.#server.off("error", fail);
        resolve();
      });
    });
    // Errors of a listening socket (such as EMFILE in accept) are not the end of the connections that stand.
    this.#server.on("error", (error) => {
      this.#options.logger.warn({ error: error.message }, `Trouble while listening at ${this.#address}.`);
    });
    const real = this.#server.address() as AddressInfo;
    this.#address = formatAddress({ ...this.#wanted, port: real.port });
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const channel of [...this.#channels]) channel.close("the listener was closed");
      this.#server.closeAllConnections();
    });
    return this.#closed;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const judged = this.#judge(request);
    if (judged.kind === "refuse") {
      const { code, reason } = judged.refusal;
      this.#options.logger.debug(
        { from: request.socket.remoteAddress, code },
        `Refused a connection: ${reason}`,
      );
      refuse(socket, judged.status, judged.refusal);
      return;
    }
    this.#answers.set(request, judged.headers);
    this.#upgrader.handleUpgrade(request, socket, head, (webSocket) => {
      const channel = new WebSocketChannel(webSocket, socket as Socket, this.#liveness, () => {
        this.#channels.delete(channel);
      });
      this.#channels.add(channel);
      judged.opened(channel);
    });
  }

  #judge(request: IncomingMessage): Judged {
    if (this.#closed !== undefined) return refused(503, "CLOSING", "This node is closing.");
    const hello = headersToHello(request.headers);
    const facts = this.#proven(request, hello);
    if (facts === "unproven") {
      return refused(
        401,
        "SECRET",
        "This node asks for a shared secret, and you did not prove that you know it.",
      );
    }
    const { maxConnections } = this.#options;
    if (this.#channels.size >= maxConnections) {
      return refused(503, "BUSY", `This node holds ${maxConnections} connections, and takes no more.`);
    }
    const fault = helloFault(hello);
    if (fault !== undefined) return refused(400, "HELLO", `This is no hello of Quorate: ${fault}.`);
    const answer = this.#accept(hello);
    if (answer.kind === "refuse") return refused(403, answer.code, answer.reason);
    checkHello(answer.hello);
    const headers = { ...helloToHeaders(answer.hello), ...this.#proofOf(facts, answer.hello) };
    return { kind: "accept", headers, opened: answer.opened };
  }

  /** The facts that were proven, `undefined` where no secret is asked for. */
  #proven(request: IncomingMessage, hello: Hello): ProofFacts | "unproven" | undefined {
    const { secret } = this.#options;
    if (secret === undefined) return undefined;
    const challenge = headerOf(request.headers, challengeHeader) ?? "";
    const nonce = headerOf(request.headers, nonceHeader) ?? "";
    const facts = { challenge, nonce, hello };
    if (!this.#challenges.use(challenge, performance.now())) return "unproven";
    return isProof(secret, facts, headerOf(request.headers, proofHeader)) ? facts : "unproven";
  }

  #proofOf(facts: ProofFacts | undefined, answer: Hello): Record<string, string> {
    const { secret } = this.#options;
    if (secret === undefined || facts === undefined) return {};
    return { [proofHeader]: prove(secret, { ...facts, answer }) };
  }

  #answerGarbage(error: NodeJS.ErrnoException, socket: Duplex): void {
    const { remoteAddress: from } = socket as Socket;
    const { code = "" } = error;
    this.#options.logger.debug({ from, code }, "Turned away a connection that does not speak HTTP.");
    if (code === "ERR_HTTP_REQUEST_TIMEOUT")
      answerAndEnd(socket, 408, "You took too long to say who you are.");
    else if (/^(HPE|ERR_HTTP)_/.test(code)) {
      answerAndEnd(socket, 400, "This port of a Quorate node speaks WebSocket.");
    } else socket.destroy(); // reset, or no TLS: no words would get through
  }
}

function makeServer({ secure }: Address, options: ResolvedOptions): Server {
  const { handshakeTimeoutMs, tls } = options;
  const common: ServerOptions = {
    headersTimeout: handshakeTimeoutMs,
    requestTimeout: handshakeTimeoutMs,
    keepAliveTimeout: handshakeTimeoutMs,
    connectionsCheckingInterval: Math.max(10, Math.min(1_000, handshakeTimeoutMs / 4)),
    maxHeaderSize: 16 * 1024,
    noDelay: true,
  };
  if (!secure) return createServer(common);
  if (tls?.cert === undefined || tls.key === undefined) {
    throw new QuorateError(
      "INVALID_OPTIONS",
      "To listen at a wss:// address takes a TLS certificate and its key.",
    );
  }
  const mutual = tls.requireClientCertificate === true;
  return createSecureServer({
    ...common,
    handshakeTimeout: handshakeTimeoutMs,
    cert: Buffer.from(tls.cert),
    key: Buffer.from(tls.key),
    ...(tls.ca === undefined ? {} : { ca: Buffer.from(tls.ca) }),
    requestCert: mutual,
    rejectUnauthorized: mutual,
  });
}

type Judged =
  | {
      readonly kind: "accept";
      readonly headers: Readonly<Record<string, string>>;
      readonly opened: (channel: Channel) => void;
    }
  | { readonly kind: "refuse"; readonly status: number; readonly refusal: Refusal };

function refused(status: number, code: string, reason: string): Judged {
  return { kind: "refuse", status, refusal: { kind: "refuse", code, reason } };
}

function listenError(address: string, error: NodeJS.ErrnoException): QuorateError {
  if (error.code === "EADDRINUSE") {
    const advice = "Stop the process that listens there, or choose another port.";
    return new QuorateError("ADDRESS_IN_USE", `Cannot listen at ${address}: it is in use. ${advice}`, {
      cause: error,
    });
  }
  return new QuorateError("INVALID_OPTIONS", `Cannot listen at ${address}: ${error.message}.`, {
    cause: error,
  });
}
