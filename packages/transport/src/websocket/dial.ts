/**
 * Makes one connection: the challenge if there is a secret, the upgrade with our hello, the answer with
 * theirs.
 *
 * It always ends: with a channel, with the other side's refusal, or with a failure, within the time that was
 * given and at once when the signal says so. Nothing is left open after a failure.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import {
  type Channel,
  ConnectionRefusedError,
  type DialOptions,
  type Hello,
  QuorateError,
} from "@quorate/raft";
import { WebSocket } from "ws";

import { parseAddress } from "../network/address.ts";
import { checkHello, helloFault } from "../network/helloFields.ts";
import {
  challengeHeader,
  headerOf,
  headersToHello,
  helloToHeaders,
  nonceHeader,
  proofHeader,
  readRefusal,
} from "./helloHeaders.ts";
import type { Liveness } from "./liveness.ts";
import { type ResolvedOptions, socketSettings } from "./options.ts";
import { isNonce, isProof, newNonce, type ProofFacts, prove } from "./secret.ts";
import { WebSocketChannel } from "./webSocketChannel.ts";

export interface Dialled {
  readonly channel: Channel;
  readonly hello: Hello;
}

/** What one attempt to dial needs to know. */
interface Attempt {
  readonly address: string;
  readonly hello: Hello;
  readonly options: ResolvedOptions;
  readonly liveness: Liveness;
  /** Aborted by the caller's signal, or by time. */
  readonly signal: AbortSignal;
}

export async function dialWebSocket(
  address: string,
  hello: Hello,
  dialOptions: DialOptions,
  options: ResolvedOptions,
  liveness: Liveness,
): Promise<Dialled> {
  parseAddress(address);
  checkHello(hello);
  const { signal, timeoutMs } = dialOptions;
  const abort = new AbortController();
  const giveUp = (): void => {
    abort.abort(new QuorateError("ABORTED", `Dialling ${address} was given up before the connection stood.`));
  };
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp, { once: true });
  const timer = setTimeout(() => abort.abort(failed(address, `no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    const attempt = { address, hello, options, liveness, signal: abort.signal };
    abort.signal.throwIfAborted();
    const facts = options.secret === undefined ? undefined : await askForChallenge(attempt);
    return await upgrade(attempt, facts);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
  }
}

function upgrade(attempt: Attempt, facts: ProofFacts | undefined): Promise<Dialled> {
  const { address, hello, options, liveness, signal } = attempt;
  return new Promise((resolve, reject) => {
    const webSocket = new WebSocket(address, {
      ...tlsOf(options),
      headers: { ...helloToHeaders(hello), ...proofHeaders(options.secret, facts) },
      ...socketSettings(options),
      followRedirects: false,
    });
    let answer: IncomingMessage | undefined;
    const end = (error: unknown): void => {
      signal.removeEventListener("abort", onAbort);
      webSocket.terminate();
      reject(error);
    };
    const onAbort = (): void => end(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    // After a failure `terminate` reports once more that nothing stood; there is nobody left to tell.
    webSocket.on("error", (error) => end(failed(address, error.message, error)));
    webSocket.on("unexpected-response", (_request, response) => {
      void readBody(response).then((body) => end(notUpgraded(address, response, body)), end);
    });
    webSocket.once("upgrade", (response) => {
      answer = response;
    });
    webSocket.once("open", () => {
      const response = answer as IncomingMessage;
      const theirs = headersToHello(response.headers);
      const fault = answerFault(attempt, facts, theirs, headerOf(response.headers, proofHeader));
      if (fault !== undefined) {
        end(fault);
        return;
      }
      signal.removeEventListener("abort", onAbort);
      webSocket.removeAllListeners("error");
      const channel = new WebSocketChannel(webSocket, response.socket as Socket, liveness);
      resolve({ channel, hello: theirs });
    });
  });
}

/** What is wrong with an answer that accepted us. */
function answerFault(
  { address, options }: Attempt,
  facts: ProofFacts | undefined,
  theirs: Hello,
  proof: string | undefined,
): QuorateError | undefined {
  const fault = helloFault(theirs);
  if (fault !== undefined) return failed(address, fault);
  if (options.secret === undefined || facts === undefined) return undefined;
  if (isProof(options.secret, { ...facts, answer: theirs }, proof)) return undefined;
  return new QuorateError(
    "REFUSED",
    `${address} does not know our shared secret: it is not one of our nodes.`,
  );
}

function proofHeaders(secret: string | undefined, facts: ProofFacts | undefined): Record<string, string> {
  if (secret === undefined || facts === undefined) return {};
  return {
    [challengeHeader]: facts.challenge,
    [nonceHeader]: facts.nonce,
    [proofHeader]: prove(secret, facts),
  };
}

/** A plain request whose answer is the challenge to prove ourselves against. */
async function askForChallenge(attempt: Attempt): Promise<ProofFacts> {
  const { address, hello, options, signal } = attempt;
  const { secure } = parseAddress(address);
  const url = address.replace(/^ws/, "http");
  const settings = { ...tlsOf(options), headers: { [challengeHeader]: "please" }, agent: false, signal };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request: ClientRequest = secure ? httpsRequest(url, settings) : httpRequest(url, settings);
    request.on("response", resolve);
    request.on("error", (error) =>
      reject(signal.aborted ? signal.reason : failed(address, error.message, error)),
    );
    request.end();
  });
  response.resume();
  const challenge = headerOf(response.headers, challengeHeader);
  if (isNonce(challenge)) return { challenge, nonce: newNonce(), hello };
  throw new QuorateError(
    "REFUSED",
    `${address} does not ask for a shared secret, and we have one: it is no node of ours, or runs without.`,
  );
}

function tlsOf(options: ResolvedOptions): Record<string, string | Uint8Array> {
  const { cert, key, ca } = options.tls ?? {};
  return {
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(ca === undefined ? {} : { ca }),
  };
}

const maxBodyBytes = 2_048;

/** The beginning of the body: refusals are short, and what else answers there may be long. */
async function readBody(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes >= maxBodyBytes) break;
    }
  } catch {
    // Cut off in the middle: what arrived is still the best that can be shown.
  }
  return Buffer.concat(parts).toString("utf8", 0, maxBodyBytes);
}

function notUpgraded(address: string, response: IncomingMessage, body: string): QuorateError {
  const refusal = readRefusal(response.headers, body);
  if (refusal !== undefined) return new ConnectionRefusedError(address, refusal);
  return failed(
    address,
    `it answers HTTP ${response.statusCode}, as something that is no Quorate node would`,
  );
}

function failed(address: string, reason: string, cause?: unknown): QuorateError {
  return new QuorateError("CONNECTION_FAILED", `${address} could not be reached: ${reason}.`, {
    retryable: true,
    cause,
  });
}
