/**
 * Where the cluster's lines go: plainly to the two outputs, or on a terminal above a table of the nodes that is drawn
 * again in place. Nothing is written while nothing changes.
 */
import { textTable } from "../textTable.ts";
import type { ReporterOutput } from "./lineReporter.ts";
import type { NodeView } from "./supervisorEvents.ts";

interface Output {
  write(text: string): unknown;
}

export interface Terminal extends Output {
  readonly columns?: number;
  readonly rows?: number;
}

/** No table: what is no terminal gets lines that stay true. */
export function outWriter(out: Output, errors: Output): ReporterOutput {
  return {
    line: (text) => out.write(`${text}\n`),
    problem: (text) => errors.write(`${text}\n`),
    table: () => {},
  };
}

export function liveTable(terminal: Terminal): ReporterOutput {
  let drawn: readonly string[] = [];
  const redraw = (above: string, table: readonly string[]): void => {
    // Up to the table's first line, and clear from there to the end of the screen.
    const clear = drawn.length === 0 ? "" : `\u001b[${drawn.length}A\r\u001b[J`;
    terminal.write(`${clear}${above}${table.map((line) => `${line}\n`).join("")}`);
    drawn = table;
  };
  const above = (text: string): void => redraw(`${text}\n`, drawn);
  return {
    line: above,
    problem: above,
    table(nodes): void {
      const table = nodes === undefined ? [] : nodeTable(nodes, terminal.columns ?? 80);
      const hasRoom = (terminal.rows ?? 24) > table.length;
      const next = hasRoom ? table : [];
      if (next.join("\n") !== drawn.join("\n")) redraw("", next);
    },
  };
}

export function nodeTable(nodes: readonly NodeView[], width: number): readonly string[] {
  const show = (value: number | null): string => (value === null ? "-" : String(value));
  const rows = nodes.map((node) => [
    node.id,
    node.role,
    show(node.term),
    show(node.commitIndex),
    show(node.appliedIndex),
    show(node.lag),
    show(node.pid),
    node.endpoint,
  ]);
  // The last column stays free: a terminal that wraps there would shift every later line.
  return textTable(["NODE", "ROLE", "TERM", "COMMIT", "APPLIED", "LAG", "PID", "ENDPOINT"], rows, width - 1);
}
