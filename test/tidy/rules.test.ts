/** Each house rule is shown a file that breaks it, so that a rule which has gone blind is noticed. */
import { describe, expect, it } from "vitest";
import { layeringComplaints, loadedWith } from "./layers.ts";
import { complaintsAbout, documentedCodes, foreignWordsIn } from "./rules.ts";

const opening = "/** What it is. */\n";

function about(text: string, path = "packages/raft/src/node/a.ts"): string[] {
  return complaintsAbout({ path, text: opening + text });
}

describe("the rules of one file", () => {
  it("accept a file that keeps them", () => {
    expect(about("export const a: Date = new Date();\n")).toEqual([]);
  });

  it.each([
    ["a file of more than 400 lines", "a();\n".repeat(400), /401 lines/],
    ["a function of more than 70 lines", `function f() {\n${"a();\n".repeat(69)}}\n`, /f has 71 lines/],
    [
      "a method of more than 70 lines",
      `class A { async m(): Promise<void> {\n${"a();\n".repeat(69)}}}`,
      /m has 71/,
    ],
    ["a line of more than 120 columns", `// ${"x".repeat(118)}\n`, /121 columns/],
    ["a manager", "export class SessionManager {}\n", /SessionManager/],
    ["a default export", "export default 1;\n", /no default exports/],
    ["an enum", "enum A { B }\n", /no enums/],
    ["any", "const a = b as any;\n", /no any/],
    ["a focused test", "it.only(1);\n", /every test runs/],
    ["a skipped test", "describe.skip(1);\n", /every test runs/],
    ["a silenced compiler", `// @${"ts-ignore"}\n`, /let the compiler/],
    ["a task left for later", `// ${"TO"}${"DO"}: later\n`, /open an issue/],
  ])("refuse %s", (_title, text, complaint) => {
    expect(about(text)).toEqual([expect.stringMatching(complaint)]);
  });

  it("refuse a file that does not open with a comment", () => {
    expect(complaintsAbout({ path: "a.ts", text: "a();\n" })).toEqual([expect.stringMatching(/open with/)]);
  });

  it("refuse a file that is named after nothing", () => {
    expect(about("", "packages/kv/src/utils.ts")).toEqual([expect.stringMatching(/what it holds/)]);
  });

  it.each(["Date.now()", "Math.random()", "async () => 1", "new Promise(f)", "setTimeout(f)", "process.env"])(
    "refuse %s in a pure folder, and only there",
    (code) => {
      expect(about(`a = ${code};\n`, "packages/kv/src/machine/a.ts")).toHaveLength(1);
      expect(about(`a = ${code};\n`, "packages/kv/src/server/a.ts")).toEqual([]);
      expect(about(`// ${code}\nb = "${code}";\n`, "packages/raft/src/core/a.ts")).toEqual([]);
    },
  );

  it.each([`see /${"work"}/x`, `by ${"Cl"}${"aude"}`, `${"iss"}${"ue"} 7`])("refuse the words %s", (text) => {
    expect(foreignWordsIn({ path: "README.md", text })).toHaveLength(1);
  });

  it("leave other words alone", () => {
    const text = "a network/works.md, framework/x, nodejs/node#47724, the issue of 2015";
    expect(foreignWordsIn({ path: "README.md", text })).toEqual([]);
  });
});

describe("layering", () => {
  const imports = (path: string, specifier: string): string[] =>
    layeringComplaints({ path: `packages/${path}`, text: `import type { A } from "${specifier}";\n` });

  it.each([
    ["raft/src/core/a.ts", "../errors.ts"],
    ["raft/src/core/a.ts", "node:fs"],
    ["raft/src/ports/a.ts", "../node/b.ts"],
    ["raft/src/node/a.ts", "../index.ts"],
    ["raft/src/a.ts", "ws"],
    ["transport/src/a.ts", "@quorate/client"],
    ["storage/src/a.ts", "@quorate/transport"],
    ["client/src/a.ts", "@quorate/storage"],
    ["client/src/protocol/a.ts", "../cluster.ts"],
    ["client/src/a.ts", "../../raft/src/core/types.ts"],
    ["client/src/a.ts", "@quorate/raft/dist/index.js"],
    ["kv/src/machine/a.ts", "../server/b.ts"],
    ["kv/src/machine/a.ts", "@quorate/client"],
    ["kv/src/server/a.ts", "../join.ts"],
    ["sim/src/a.ts", "ws"],
    ["sim/src/a.ts", "level"],
  ])("refuses that packages/%s imports %s", (path, specifier) => {
    expect(imports(path, specifier)).toHaveLength(1);
  });

  it.each([
    ["raft/src/core/a.ts", "./b.ts"],
    ["raft/src/ports/a.ts", "../core/b.ts"],
    ["raft/src/node/a.ts", "../ports/b.ts"],
    ["raft/src/node/a.ts", "node:crypto"],
    ["raft/src/index.ts", "./node/b.ts"],
    ["kv/src/machine/a.ts", "@quorate/client/protocol"],
    ["kv/src/machine/a.ts", "sorted-btree"],
    ["kv/src/join.ts", "@quorate/storage/internal"],
    ["cli/src/a.ts", "commander"],
    ["cli/src/a.ts", "@quorate/client/fencing/sql"],
  ])("allows that packages/%s imports %s", (path, specifier) => {
    expect(imports(path, specifier)).toEqual([]);
  });

  it("follows what a module loads through sister packages, and neither types nor lazy imports", () => {
    const manifest = { name: "@quorate/kv", exports: { "./node": { development: "./src/node.ts" } } };
    const files = [
      { path: "packages/kv/package.json", text: JSON.stringify(manifest) },
      { path: "packages/kv/src/node.ts", text: 'import "./b.ts";\nimport type { A } from "level";\n' },
      { path: "packages/kv/src/b.ts", text: 'import { WebSocket } from "ws";\nimport("level");\n' },
      { path: "packages/sim/src/index.ts", text: 'export * from "@quorate/kv/node";\n' },
    ];
    expect(loadedWith("packages/sim/src/index.ts", new Set(["ws", "level"]), files)).toEqual([
      "packages/sim/src/index.ts → @quorate/kv/node → ./b.ts → ws",
    ]);
  });
});

describe("documented codes", () => {
  it("are the headings that name a code", () => {
    expect(documentedCodes("# `NOT_THIS`\n### `CLOSED`\ntext `ABORTED`\n### `TIMED_OUT`\n")).toEqual([
      "CLOSED",
      "TIMED_OUT",
    ]);
  });
});
