/**
 * The `quorate` command's first steps: words → invocation → the one command's file, loaded only now, for a node must
 * be up in a fraction of a second. Must import nothing else statically. All errors end here, as a sentence on
 * standard error and an exit code.
 */
import { readFileSync, writeFileSync, writeSync } from "node:fs";
import { type Invocation, type Outline, outlineOf, parseInvocation } from "./arguments.ts";
import { exitCodeOf, exitCodes, quorateError, runnerExitCodeOf, sentenceOf } from "./exitCodes.ts";
import { UsageError } from "./usageError.ts";

async function run(invocation: Invocation): Promise<number> {
  if (invocation.kind === "help") {
    const { helpText } = await import("./help.ts");
    process.stdout.write(helpText(invocation.command));
    return exitCodes.done;
  }
  if (invocation.kind === "version") {
    process.stdout.write(`${readVersion()}\n`);
    return exitCodes.done;
  }
  const { command, options, positionals } = invocation;
  switch (command) {
    case "node":
      return (await import("./node/nodeCommand.ts")).runNode(options);
    case "cluster":
      return (await import("./cluster/clusterCommand.ts")).runCluster(options);
    case "put":
      return (await import("./commands/putCommand.ts")).runPut(positionals, options);
    case "get":
      return (await import("./commands/getCommand.ts")).runGet(positionals, options);
    case "delete":
      return (await import("./commands/deleteCommand.ts")).runDelete(positionals, options);
    case "list":
      return (await import("./commands/listCommand.ts")).runList(positionals, options);
    case "watch":
      return (await import("./commands/watchCommand.ts")).runWatch(positionals, options);
    case "txn":
      return (await import("./commands/txnCommand.ts")).runTxn(positionals, options);
    case "limits":
      return (await import("./commands/limitsCommand.ts")).runLimits(options);
    case "status":
      return (await import("./commands/statusCommand.ts")).runStatus(options);
    case "transfer":
      return (await import("./commands/transferCommand.ts")).runTransfer(positionals, options);
    case "member":
      return (await import("./commands/memberCommand.ts")).runMember(positionals, options);
    case "snapshot":
      return (await import("./commands/snapshotCommand.ts")).runSnapshot(positionals, options);
    case "recover":
      return (await import("./commands/recoverCommand.ts")).runRecover(positionals, options);
    case "doctor":
      return (await import("./commands/doctorCommand.ts")).runDoctor(positionals, options);
    case "lock":
      return (await import("./lease/lockCommand.ts")).runLock(positionals, options);
    case "elect":
      return (await import("./lease/lockCommand.ts")).runElect(positionals, options);
    case "lease":
      return (await import("./lease/leaseCommand.ts")).runLease(positionals, options);
    case "session":
      return (await import("./lease/sessionCommand.ts")).runSession(positionals, options);
    case "sim":
      return (await import("./sim/simCommand.ts")).runSim(options);
    case "demo":
      return (await import("./demo/demoCommand.ts")).runDemo(positionals);
    default:
      return unknownCommand(command);
  }
}

function unknownCommand(command: never): never {
  throw new Error(`unreachable: the command ${command as string}`);
}

function readVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

function report(error: unknown, { command, json }: Outline): void {
  const sentence = sentenceOf(error, command);
  if (json) {
    const fields = quorateError(error);
    const code = fields?.code ?? (error instanceof UsageError ? "INVALID_ARGUMENT" : "FAILED");
    const { retryable = false, outcome = "none" } = fields ?? {};
    process.stderr.write(`${JSON.stringify({ error: { code, message: sentence, retryable, outcome } })}\n`);
    return;
  }
  // A programming fault is worth its stack; what Quorate says of itself is not.
  const isFault = !(error instanceof Error) || /^(Type|Range|Reference|Syntax)Error$/.test(error.name);
  process.stderr.write(`quorate: ${isFault && error instanceof Error ? error.stack : sentence}\n`);
}

async function main(args: readonly string[]): Promise<void> {
  const outline = outlineOf(args);
  if (outline.command === "node") showAs(["quorate", ...args]);
  // Who reads our output may go away (`| head`): no reason to fail.
  process.stdout.on("error", endUnlessReaderLeft);
  process.stderr.on("error", endUnlessReaderLeft);
  // The library's timers keep no process alive: this one does, until the command has ended one way or the other.
  const alive = setInterval(() => {}, 60_000);
  try {
    process.exitCode = await run(parseInvocation(args));
  } catch (error) {
    process.exitCode = runsCommand(outline) ? runnerExitCodeOf(error) : exitCodeOf(error);
    report(error, outline);
  } finally {
    clearInterval(alive);
  }
}

/** What runs another command keeps its own failures apart from that one's. */
function runsCommand({ command }: Outline): boolean {
  return command === "lock" || command === "elect";
}

/** `ps` then shows a node as what was typed, whatever started it. */
function showAs(words: readonly string[]): void {
  process.title = words.join(" ");
  try {
    // The title also became the process's short name, blanks and all, which confuses readers of /proc/PID/stat.
    writeFileSync("/proc/self/comm", "quorate");
  } catch {
    // There is no such file here, nor a short name to set right.
  }
}

/** A full disk, say: what was to be told is lost, and what was to be done may be done. */
function endUnlessReaderLeft(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE" || error.code === "EIO") return;
  try {
    writeSync(2, `quorate: The output cannot be written (${error.message}); what it tells of may be done.\n`);
  } catch {
    // It is standard error that cannot be written, and the exit code is all that is left to tell by.
  }
  process.exit(exitCodes.failed);
}

void main(process.argv.slice(2));
