/** A configuration as bytes: it comes back as it was, or is refused. */
import { decodeConfiguration, encodeConfiguration } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import { bytes, configurationFor, idOf } from "./cluster.ts";

describe("an encoded configuration", () => {
  it("is ASCII and comes back as it was, whatever is in an address", () => {
    const configuration = {
      voters: [
        { id: idOf("a"), address: "ws://[::1]:7101" },
        { id: idOf("b"), address: 'wss://bücher.example/"\\\u{1f680}\u0007' },
      ],
    };
    const encoded = encodeConfiguration(configuration);
    expect(encoded.every((byte) => byte >= 0x20 && byte < 0x7f)).toBe(true);
    expect(decodeConfiguration(encoded)).toEqual(configuration);
  });

  it("is refused when it is anything else", () => {
    const [member] = configurationFor(["a"]).voters;
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
    ];
    for (const value of bad)
      expect(decodeConfiguration(bytes(JSON.stringify(value))), `${value}`).toBeUndefined();
    for (const text of ["", "{", "voters", "\u00e9"])
      expect(decodeConfiguration(bytes(text))).toBeUndefined();
  });
});
