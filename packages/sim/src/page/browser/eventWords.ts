/** An event of the run in words: a title, and its facts as pairs. Plain text, which is never put in as HTML. */
import { intervalKinds, messageKinds, operationKinds, outcomes } from "./recording.ts";
import type { RunEvent, RunIndex } from "./runIndex.ts";
import { wordsOfMs } from "./timeScale.ts";

export interface EventWords {
  readonly title: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
}

export function eventWords(index: RunIndex, { kind, row, atMs }: RunEvent): EventWords {
  switch (kind) {
    case "state":
      return stateWords(index, row);
    case "sent":
    case "arrived":
      return messageWords(index, row);
    case "asked":
    case "answered":
      return operationWords(index, row);
    case "began":
    case "ended":
      return intervalWords(index, row);
    case "fault":
      return { title: "Fault", facts: [["what", index.recording.faults[row]?.sentence ?? ""], at(atMs)] };
    case "violation": {
      const violation = index.recording.violations[row];
      return {
        title: `Violation: ${violation?.invariant ?? ""}`,
        facts: [["what", violation?.sentence ?? ""], at(atMs)],
      };
    }
  }
}

function at(ms: number): readonly [string, string] {
  return ["at", wordsOfMs(ms)];
}

function stateWords(index: RunIndex, row: number): EventWords {
  const node = index.name(index.state(row, "node"));
  const role = index.roleAt(row) === "preCandidate" ? "pre-candidate" : index.roleAt(row);
  return {
    title: `${node} is ${role} of term ${index.state(row, "term")}`,
    facts: [
      at(index.state(row, "atMs")),
      ["vote", index.name(index.state(row, "vote"))],
      ["commit", String(index.state(row, "commit"))],
      ["last index", String(index.state(row, "last"))],
    ],
  };
}

function messageWords(index: RunIndex, row: number): EventWords {
  const [sentMs, arrivedMs] = [index.message(row, "sentMs"), index.message(row, "arrivedMs")];
  const kind = messageKinds[index.message(row, "kind")] ?? "message";
  return {
    title: `${index.name(index.message(row, "from"))} → ${index.name(index.message(row, "to"))}  ${spaced(kind)}`,
    facts: [
      ["says", index.recording.strings[index.message(row, "detail")] ?? ""],
      ["term", String(index.message(row, "term"))],
      ["sent", wordsOfMs(sentMs)],
      [
        "arrived",
        arrivedMs < 0 ? "never" : `${wordsOfMs(arrivedMs)}, after ${wordsOfMs(arrivedMs - sentMs)}`,
      ],
    ],
  };
}

function operationWords(index: RunIndex, row: number): EventWords {
  const [startMs, endMs] = [index.operation(row, "startMs"), index.operation(row, "endMs")];
  const { strings } = index.recording;
  const kind = operationKinds[index.operation(row, "kind")] ?? "operation";
  const outcome = outcomes[index.operation(row, "outcome")] ?? "open";
  return {
    title: `${strings[index.operation(row, "client")] ?? "client"}  ${kind} ${strings[index.operation(row, "detail")] ?? ""}`,
    facts: [
      ["outcome", outcomeSentences[outcome]],
      ["asked", wordsOfMs(startMs)],
      ["answered", endMs < 0 ? "never" : `${wordsOfMs(endMs)}, after ${wordsOfMs(endMs - startMs)}`],
    ],
  };
}

const outcomeSentences = {
  ok: "done",
  failed: "certainly not done",
  unknown: "unknown to the client",
  open: "never told",
} as const;

function intervalWords(index: RunIndex, row: number): EventWords {
  const { intervals, endMs } = index.recording;
  const kind = intervalKinds[intervals.kind[row] as number] ?? "down";
  const [node, other] = [
    index.name(intervals.node[row] as number),
    index.name(intervals.other[row] as number),
  ];
  const ended = intervals.endMs[row] as number;
  const titles = {
    down: `${node} is down`,
    paused: `${node} is paused`,
    cut: `Path ${node} ↛ ${other} is cut`,
    clogged: `Path ${node} → ${other} is clogged`,
    starved: `${node} is short of processor time`,
    fullDisk: `The disk of ${node} is full`,
    noClients: `${node} is cut off from its clients`,
  };
  const startMs = intervals.startMs[row] as number;
  return {
    title: titles[kind],
    facts: [
      ["from", wordsOfMs(startMs)],
      ["until", ended < 0 ? "the end of the run" : wordsOfMs(ended)],
      ["for", wordsOfMs((ended < 0 ? endMs : ended) - startMs)],
    ],
  };
}

/** `append request` of `appendRequest`. */
function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
