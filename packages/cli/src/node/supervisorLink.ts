/**
 * A node's side of the channel to its supervisor: tells it what the node says of itself, and stops the node when the
 * channel closes, for then the supervisor is gone, however it went. Must cost an idle node next to nothing.
 */
import type { Clock } from "@quorate/raft";
import { type NodeMessage, type NodeSummary, supervisedVariable } from "./nodeMessages.ts";

/** Between two looks at the node's status. */
const reportIntervalMs = 500;

export interface SupervisorLink {
  /** Resolves when the supervisor is gone. */
  readonly gone: Promise<void>;
  /** Resolves when the message is on its way, or cannot be. */
  send(message: NodeMessage): Promise<void>;
}

/** Undefined where no supervisor started this process. */
export function supervisorLink(): SupervisorLink | undefined {
  if (process.env[supervisedVariable] === undefined || process.send === undefined) return undefined;
  const gone = new Promise<void>((resolve) => {
    if (!process.connected) resolve();
    process.once("disconnect", resolve);
  });
  const send = (message: NodeMessage): Promise<void> =>
    new Promise((resolve) => {
      if (!process.connected || process.send === undefined) resolve();
      // An error here means that the channel is closing, which `gone` tells.
      else process.send(message, undefined, {}, () => resolve());
    });
  return { gone, send };
}

/** Sends each change of the summary from now on; the returned function looks at once. */
export function reportStatus(
  link: SupervisorLink,
  read: () => NodeSummary,
  wallNowMs: () => number,
  clock: Pick<Clock, "after">,
): () => void {
  let last = "";
  const look = (): void => {
    const summary = read();
    const text = JSON.stringify(summary);
    if (text !== last) void link.send({ kind: "status", summary });
    last = text;
  };
  const lookAgain = (): void => {
    look();
    // All nodes of the machine look at the same instants, so that their indexes can be compared.
    clock.after(reportIntervalMs - (wallNowMs() % reportIntervalMs), lookAgain);
  };
  lookAgain();
  return look;
}
