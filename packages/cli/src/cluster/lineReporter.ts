/** For people: each event that matters as a sentence, what went wrong on standard error. Pure but for its output. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { defaultBasePort } from "./clusterOptions.ts";
import type { NodeView, SupervisorEvent } from "./supervisorEvents.ts";

export interface ReporterOutput {
  /** One line, or several that belong together. */
  line(text: string): void;
  problem(text: string): void;
  /** The nodes as they are now; undefined when they go. */
  table(nodes: readonly NodeView[] | undefined): void;
}

export interface ReporterContext {
  readonly cwd: string;
  readonly basePort: number;
}

export function lineReporter(
  out: ReporterOutput,
  context: ReporterContext,
): (event: SupervisorEvent) => void {
  return (event) => {
    switch (event.kind) {
      case "starting": {
        const count = event.nodes.length;
        out.line(
          `Starting ${count} ${count === 1 ? "node" : "nodes"}; data in ${shortPath(event.dataDir, context)}`,
        );
        break;
      }
      case "ready":
        out.line(readyLines(event, context).join("\n"));
        break;
      case "leader":
        out.line(`${event.id} leads in term ${event.term}`);
        break;
      case "status":
        out.table(event.nodes);
        break;
      case "complaint":
        out.problem(`${event.id}: ${event.message}`);
        break;
      case "log":
        out.problem(`${event.id}: ${readableLog(event.line)}`);
        break;
      case "exit":
        reportExit(event, out);
        break;
      case "restart":
        out.line(`${event.id} started again as process ${event.pid ?? "(none)"}, attempt ${event.attempt}`);
        break;
      case "failed":
        out.problem(`${event.id} is not started again: ${event.message}`);
        out.problem(
          `${event.nodesLeft} of the nodes are left. Stop and start the cluster once the cause is gone.`,
        );
        break;
      case "stopping":
        out.table(undefined);
        out.line("Stopping the nodes in turn; Ctrl-C again stops them at once");
        break;
      case "stopped":
        out.table(undefined);
        out.line("Stopped");
        break;
      default:
        unreachable(event);
    }
  };
}

function unreachable(event: never): never {
  throw new Error(`unreachable: ${JSON.stringify(event)}`);
}

function reportExit(event: Extract<SupervisorEvent, { kind: "exit" }>, out: ReporterOutput): void {
  const how = event.signal === null ? `ended with exit code ${event.code}` : `was ended by ${event.signal}`;
  const words = `${event.id} (process ${event.pid ?? "none"}) ${how}`;
  if (event.code === 0) out.line(words);
  else out.problem(event.message === null ? words : `${words}: ${readableLog(event.message)}`);
}

function readyLines(
  event: Extract<SupervisorEvent, { kind: "ready" }>,
  context: ReporterContext,
): readonly string[] {
  const endpoints = event.endpoints.join(",");
  const isDefault = context.basePort === defaultBasePort;
  const put = `${commandName(context.cwd)} put greeting hello${isDefault ? "" : ` --endpoints ${event.endpoints[0]}`}`;
  return [
    `Ready: ${endpoints} (${event.leader} leads in term ${event.term})`,
    "",
    "Try, in another terminal:",
    `  ${put}`,
    "",
  ];
}

/** How the command is called from this directory. */
function commandName(cwd: string): string {
  return existsSync(join(cwd, "node_modules", ".bin", "quorate")) ? "node_modules/.bin/quorate" : "quorate";
}

function shortPath(path: string, { cwd }: ReporterContext): string {
  const short = relative(cwd, path);
  return short === "" || short.startsWith("..") ? path : short;
}

/** A node's JSON log line as words; any other line as it is. */
export function readableLog(line: string): string {
  if (!line.startsWith("{")) return line;
  try {
    const fields = JSON.parse(line) as { msg?: unknown };
    return typeof fields.msg === "string" ? fields.msg : line;
  } catch {
    return line;
  }
}
