/**
 * Builds a state of a snapshot's content, which comes in pieces cut anywhere. It is used only when all of it was there
 * and made sense.
 */
import { ByteReader } from "@quorate/client/protocol";
import { createStore, type StoreState } from "../storeState.ts";
import { frameHeaderBytes } from "./contentWriter.ts";
import { type SectionRestoration, type StateSection, sections } from "./sections.ts";
import { endTag, heading } from "./writeContent.ts";

/** Far above the largest item: a length that is damaged must not make us wait for gigabytes. */
const maxFrameBytes = 67_108_864;

export interface ContentRestoration {
  /** Throws where the content is malformed; what it takes from `chunk` it copies. */
  add(chunk: Uint8Array): void;
  /** The new state. Throws where the content is not whole. */
  finish(): StoreState;
}

const byTag: ReadonlyMap<number, StateSection> = new Map(sections.map((section) => [section.tag, section]));

export function restoreContent(): ContentRestoration {
  const state = createStore();
  const queue = new ByteQueue();
  const opened = new Map<number, SectionRestoration>();
  let items = 0;
  let stage: "heading" | "frames" | "ended" | "broken" = "heading";

  const take = (): boolean => {
    if (stage === "ended") throw malformed("it goes on after its end");
    if (stage === "heading") {
      const found = queue.take(heading.length);
      if (found === undefined) return false;
      if (found.some((byte, at) => byte !== heading[at]))
        throw malformed("it is none, or of a later version");
      stage = "frames";
      return true;
    }
    const frame = takeFrame(queue);
    if (frame === undefined) return false;
    if (frame.tag === endTag) {
      if (frame.body.varint("count") !== items) frame.body.fail("items are missing");
      stage = "ended";
    } else {
      items += readItems(frame, sectionOf(opened, frame.tag, state));
    }
    if (frame.body.problem !== undefined) throw malformed(frame.body.problem);
    return true;
  };

  return {
    add(chunk) {
      if (stage === "broken") throw malformed("it went wrong before");
      queue.add(chunk);
      try {
        while (queue.length > 0 && take()) {}
      } catch (error) {
        stage = "broken";
        throw error;
      }
    },
    finish() {
      if (stage !== "ended") throw malformed("it was cut off");
      for (const section of opened.values()) section.end();
      return state;
    },
  };
}

interface Frame {
  readonly tag: number;
  readonly body: ByteReader;
}

function takeFrame(queue: ByteQueue): Frame | undefined {
  const header = queue.peek(frameHeaderBytes);
  if (header === undefined) return undefined;
  const [tag = 0, a = 0, b = 0, c = 0, d = 0] = header;
  const length = a * 0x100_0000 + b * 0x1_0000 + c * 0x100 + d;
  if (length > maxFrameBytes) throw malformed(`a frame of it has ${length} bytes`);
  const frame = queue.take(frameHeaderBytes + length);
  return frame && { tag, body: new ByteReader(frame.subarray(frameHeaderBytes)) };
}

function sectionOf(
  opened: Map<number, SectionRestoration>,
  tag: number,
  state: StoreState,
): SectionRestoration {
  const before = opened.get(tag);
  if (before !== undefined) return before;
  const section = byTag.get(tag);
  if (section === undefined) throw malformed(`it has a section ${tag}, which only a later version knows`);
  for (const earlier of opened.values()) earlier.end();
  const restoration = section.restore(state);
  opened.set(tag, restoration);
  return restoration;
}

/** How many there were. */
function readItems({ body }: Frame, section: SectionRestoration): number {
  let items = 0;
  while (!body.isAtEnd && body.problem === undefined) {
    section.item(body);
    items += 1;
  }
  return items;
}

/** Bytes that were added and not yet taken. */
class ByteQueue {
  private bytes: Uint8Array = new Uint8Array(0);
  private from = 0;

  get length(): number {
    return this.bytes.length - this.from;
  }

  add(chunk: Uint8Array): void {
    const joined = new Uint8Array(this.length + chunk.length);
    joined.set(this.bytes.subarray(this.from), 0);
    joined.set(chunk, this.length);
    this.bytes = joined;
    this.from = 0;
  }

  /** Undefined where there are fewer. */
  peek(length: number): Uint8Array | undefined {
    return length > this.length ? undefined : this.bytes.subarray(this.from, this.from + length);
  }

  take(length: number): Uint8Array | undefined {
    const taken = this.peek(length);
    if (taken !== undefined) this.from += length;
    return taken;
  }
}

function malformed(what: string): Error {
  return new Error(`The content of the snapshot is malformed: ${what}.`);
}
