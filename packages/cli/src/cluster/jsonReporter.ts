/** `--json`: each event as one object on one line of standard output; the nodes' own log lines on standard error. */
import type { SupervisorEvent } from "./supervisorEvents.ts";

interface Output {
  write(text: string): unknown;
}

export function jsonReporter(out: Output, errors: Output): (event: SupervisorEvent) => void {
  return (event) => {
    if (event.kind === "log") {
      errors.write(`${event.line}\n`);
      return;
    }
    const { kind, ...fields } = event;
    out.write(`${JSON.stringify({ event: kind, ...fields })}\n`);
  };
}
