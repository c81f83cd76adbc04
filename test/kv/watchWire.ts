/** A client's end of a connection that it watches over. */
import type { ResponseBody, WatchRequest } from "@quorate/client/protocol";
import { ClientWire } from "./clientWire.ts";

export class WatchWire extends ClientWire {
  watch(request: Partial<WatchRequest> = {}): number {
    const all: WatchRequest = {
      kind: "watch",
      range: { from: "", to: "" },
      from: 1,
      filter: "all",
      previous: false,
    };
    return this.ask({ ...all, ...request });
  }

  of(id: number): ResponseBody[] {
    return this.answers.filter((answer) => answer.id === id).map(({ body }) => body);
  }

  /** The revisions that the watch was told, and how it ended. */
  told(id: number): (number | string)[] {
    return this.of(id).flatMap((body) =>
      body.kind === "watching" ? [] : [body.kind === "changed" ? body.revision : body.kind],
    );
  }
}
