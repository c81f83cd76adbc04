/** Small HTTP services on 127.0.0.1 that speak JSON, and their one client. */
import { createServer, type IncomingMessage } from "node:http";

export interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface LocalService {
  readonly url: string;
  close(): Promise<void>;
}

const maxBodyLength = 10_000;

/** `answer` gives what a POST of `body` to `path` is answered with; what it throws becomes a 500. */
export async function serveJson(
  answer: (path: string, body: unknown, headers: IncomingMessage["headers"]) => Promise<JsonAnswer>,
): Promise<LocalService> {
  const server = createServer((request, response) => {
    void respond(request).then(({ status, body }) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });

  async function respond(request: IncomingMessage): Promise<JsonAnswer> {
    try {
      return await answer(request.url ?? "/", await bodyOf(request), request.headers);
    } catch (error) {
      return { status: 500, body: { error: { message: String(error) } } };
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += chunk;
    if (text.length > maxBodyLength) throw new Error(`The body has more than ${maxBodyLength} characters.`);
  }
  return JSON.parse(text);
}

/** Rejects where the service cannot be reached. */
export async function postJson(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<JsonAnswer> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}
