/**
 * What a client and a node show each other before any frame is decoded: who speaks, and which versions of the client
 * protocol they know. Both sides use this file, so that they agree on the words.
 */
import type { Hello } from "@quorate/raft";
import { formatVersions, type Negotiated, negotiate, type VersionRange } from "@quorate/transport/links";
import { machineVersion, type RequestBody } from "./protocol/index.ts";

/** The value of `role` in a client's hello. */
export const clientRole = "client";

/**
 * The versions of the client protocol that this build speaks. Version 2 added transfers of leadership and members,
 * version 3 leases, watches, reads of the past and snapshots.
 */
export const clientVersions: VersionRange = { min: 1, max: 3 };

const sinceVersion2: ReadonlySet<RequestBody["kind"]> = new Set([
  "transfer",
  "listMembers",
  "changeMembers",
  "joinCluster",
]);

const sinceVersion3: ReadonlySet<RequestBody["kind"]> = new Set([
  "renew",
  "renewAll",
  "awaitSession",
  "getLease",
  "awaitLease",
  "listLeases",
  "leaseHistory",
  "listSessions",
  "listCandidates",
  "watch",
  "watchCredit",
  "unwatch",
  "takeSnapshot",
  "snapshotPart",
]);

/** The first version that knows the request. */
export function versionOfRequest(body: RequestBody): number {
  const isOfThePast = (body.kind === "get" || body.kind === "list") && body.revision !== undefined;
  if (isOfThePast || (body.kind === "list" && body.count === true) || sinceVersion3.has(body.kind)) return 3;
  return sinceVersion2.has(body.kind) ? 2 : 1;
}

export function clientHello(versions: VersionRange = clientVersions): Hello {
  return { role: clientRole, protocol: formatVersions(versions), machine: String(machineVersion) };
}

/** The newest version of the state machine that the client's release knows. One that shows none knows the first. */
export function machineOf({ machine = "" }: Hello): number {
  return /^[1-9][0-9]{0,5}$/.test(machine) ? Number(machine) : 1;
}

/** The server's side: the version to speak, or a refusal that names both ranges. */
export function judgeClient(hello: Hello): Negotiated {
  return negotiate(clientVersions, hello.protocol);
}

export function serverHello(node: string): Hello {
  return { role: "node", node, protocol: formatVersions(clientVersions) };
}

/** The client's side: the version to speak, or why the server's answer is none. */
export function judgeServer(hello: Hello): number | string {
  if (hello.role !== "node") return "it is no Quorate node";
  const negotiated = negotiate(clientVersions, hello.protocol);
  return negotiated.kind === "refuse" ? negotiated.reason : negotiated.version;
}
