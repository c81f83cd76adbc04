/**
 * A snapshot's content, made of a view as it is pulled: a heading, a frame at a time, and an end. It uses the view up:
 * what was written of it does not stay in memory until the end, beside what took its place in the state.
 *
 *   "QKV" version (1 byte)      then frames: tag (1 byte), length (4 bytes), that many bytes of whole items
 *   tag 0, length, item count   the last frame: without it the content was cut off
 *
 * No frame is the work of more than a few milliseconds, whatever the state's size.
 */
import type { StoreState } from "../storeState.ts";
import { ContentWriter } from "./contentWriter.ts";
import { sections } from "./sections.ts";

export const heading: Uint8Array = Uint8Array.of(0x51, 0x4b, 0x56, 1);
export const endTag = 0;

/** A frame ends with the item that reaches this; smaller ones are for tests. */
export const frameBytes = 65_536;

export function* writeContent(view: StoreState, bytesOfFrame: number = frameBytes): Iterable<Uint8Array> {
  yield heading;
  const out = new ContentWriter();
  let items = 0;
  for (const section of sections) {
    for (const _ of section.write(view, out)) {
      items += 1;
      if (out.length >= bytesOfFrame) yield out.takeFrame(section.tag);
    }
    if (out.length > 0) yield out.takeFrame(section.tag);
  }
  out.varint(items);
  yield out.takeFrame(endTag);
}
