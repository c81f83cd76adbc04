/**
 * What a client and a node show each other before any frame is decoded: who speaks, and which versions of the client
 * protocol they know. Both sides use this file, so that they agree on the words.
 */
import type { Hello } from "@quorate/raft";
import { formatVersions, type Negotiated, negotiate, type VersionRange } from "@quorate/transport/links";

/** The value of `role` in a client's hello. */
export const clientRole = "client";

/** The versions of the client protocol that this build speaks. */
export const clientVersions: VersionRange = { min: 1, max: 1 };

export function clientHello(versions: VersionRange = clientVersions): Hello {
  return { role: clientRole, protocol: formatVersions(versions) };
}

/** The server's side: the version to speak, or a refusal that names both ranges. */
export function judgeClient(hello: Hello): Negotiated {
  return negotiate(clientVersions, hello.protocol);
}

export function serverHello(node: string): Hello {
  return { role: "node", node, protocol: formatVersions(clientVersions) };
}

/** The client's side: why the server's answer is none, or undefined. */
export function problemOfServer(hello: Hello): string | undefined {
  if (hello.role !== "node") return "it is no Quorate node";
  const negotiated = negotiate(clientVersions, hello.protocol);
  return negotiated.kind === "refuse" ? negotiated.reason : undefined;
}
