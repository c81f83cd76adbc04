/** A configuration as bytes: it comes back as it was, or is refused. */
import { type Configuration, decodeConfiguration, encodeConfiguration, votersOnly } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import { bytes, configurationFor, idOf } from "./cluster.ts";

describe("an encoded configuration", () => {
  it("is ASCII and comes back as it was, whatever is in an address", () => {
    const configuration = votersOnly([
      { id: idOf("a"), address: "ws://[::1]:7101" },
      { id: idOf("b"), address: 'wss://bücher.example/"\\\u{1f680}\u0007' },
    ]);
    const encoded = encodeConfiguration(configuration);
    expect(encoded.every((byte) => byte >= 0x20 && byte < 0x7f)).toBe(true);
    expect(decodeConfiguration(encoded)).toEqual(configuration);
  });

  it("keeps both lists of a joint one, and what is to become of its learners", () => {
    const { voters } = configurationFor(["a", "b", "c"]);
    const [, , third] = configurationFor(["d", "e", "f"]).voters;
    const configuration: Configuration = {
      voters,
      outgoing: configurationFor(["b", "c", "d"]).voters,
      learners: [
        { id: idOf("d"), address: "ws://d:1", promotes: false, replaces: undefined },
        { ...third!, promotes: true, replaces: idOf("a") },
      ],
    };
    expect(decodeConfiguration(encodeConfiguration(configuration))).toEqual(configuration);
  });

  it("is written as before where it is not joint and has no learners", () => {
    const encoded = encodeConfiguration(configurationFor(["a"]));
    expect(new TextDecoder().decode(encoded)).toBe(
      '{"voters":[{"id":"a.0123456789abcdef","address":"ws://a:1"}]}',
    );
  });

  it("is refused when it is anything else", () => {
    const [member] = configurationFor(["a"]).voters;
    const learner = { ...configurationFor(["b"]).voters[0], promotes: true };
    const bad: unknown[] = [
      null,
      [],
      {},
      { voters: {} },
      { voters: [] },
      { voters: [null] },
      { voters: [{ id: "a", address: "ws://a:1" }] },
      { voters: [{ id: idOf("a") }] },
      { voters: [{ id: idOf("a"), address: 7 }] },
      { voters: [{ ...member, learner: true }] },
      { voters: [member, member] },
      { voters: [member], learners: [] },
      { voters: [member], outgoing: [] },
      { voters: [member], others: [member] },
      { voters: [member], learners: [member] },
      { voters: [member], learners: [{ ...learner, promotes: 1 }] },
      { voters: [member], learners: [{ ...learner, replaces: "b" }] },
      { voters: [member], learners: [{ ...learner, id: idOf("a") }] },
      { voters: [member], learners: [learner, learner] },
    ];
    for (const value of bad) {
      expect(decodeConfiguration(bytes(JSON.stringify(value))), JSON.stringify(value)).toBeUndefined();
    }
    for (const text of ["", "{", "voters", "\u00e9"])
      expect(decodeConfiguration(bytes(text))).toBeUndefined();
  });
});
