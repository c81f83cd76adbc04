/**
 * The sessions, in the order of their ids: id, ttlMs, ackedBelow. And their answers, in a section of their own, so that
 * no item grows with a session: session, sequence, and the result as it stands on the wire.
 */
import { resultFromWire, resultToWire, ttlFromWire, ttlToWire } from "@quorate/client/protocol";
import { keepAnswer } from "../exactlyOnce.ts";
import { createSession } from "../storeState.ts";
import { readValue } from "./readValue.ts";
import type { StateSection } from "./sections.ts";

export const sessionsSection: StateSection = {
  tag: 3,
  name: "sessions",
  *write(view, out) {
    for (const [id, { ttlMs, ackedBelow }] of view.sessions.entries()) {
      out.varint(id);
      out.varint(ttlToWire(ttlMs));
      out.varint(ackedBelow);
      yield;
    }
  },
  restore(state) {
    return {
      item(input) {
        const id = input.varint("session");
        const ttlMs = ttlFromWire(input.varint("ttlMs"));
        const ackedBelow = input.varint("ackedBelow");
        const isNew = state.sessions.set(id, { ...createSession(ttlMs, state.generation), ackedBelow });
        if (!isNew) input.fail(`it has session ${id} twice`);
      },
      end: () => {},
    };
  },
};

export const answersSection: StateSection = {
  tag: 4,
  name: "answers",
  *write(view, out) {
    for (const [id, { answers }] of view.sessions.entries()) {
      for (const [sequence, answer] of answers) {
        out.varint(id);
        out.varint(sequence);
        out.value(resultToWire(answer));
        yield;
      }
    }
  },
  restore(state) {
    return {
      item(input) {
        const session = state.sessions.get(input.varint("session"));
        const sequence = input.varint("sequence");
        const answer = resultFromWire(readValue(input));
        if (session === undefined || answer === undefined)
          input.fail("an answer is of no session, or is none");
        else keepAnswer(session, sequence, answer);
      },
      end: () => {},
    };
  },
};
