/** The scanner below the house rules, against the shapes that could fool it. */
import { describe, expect, it } from "vitest";
import { functionsOf, importsOf, mask } from "./sourceText.ts";

function functionsIn(source: string): string[] {
  return functionsOf(mask(source).code).map((span) => `${span.name} ${span.firstLine}+${span.lines}`);
}

function importsIn(source: string): string[] {
  return importsOf(mask(source)).map((found) =>
    [found.erased ? "type" : "", found.lazy ? "lazy" : "", found.specifier].filter(Boolean).join(" "),
  );
}

describe("mask", () => {
  it("blanks comments and the insides of strings, and keeps every offset", () => {
    const source = `a("{", '//', /["{]/g) // }\n/* { */ b`;
    const { code, withStrings } = mask(source);
    expect(code).toBe(`a(" ", '  ', /    /g)     \n        b`.replace("/    /g", "/    /g"));
    expect(withStrings).toBe(`a("{", '//', /["{]/g)     \n        b`);
    expect(code).toHaveLength(source.length);
  });

  it("sees code again inside the holes of a template, and the template again after them", () => {
    const { code } = mask(["f(`{ $", "{g({ a: `$", "{b}` })} // {`) // {"].join(""));
    expect([...code].filter((char) => char === "{").length).toBe(3);
    expect(code.trimEnd().endsWith("`)")).toBe(true);
  });

  it("tells a division from a regular expression", () => {
    expect(mask("x = a / b; y = '{'").code).toBe("x = a / b; y = ' '");
    expect(mask("return /}/.test(a)").code).toBe("return / /.test(a)");
  });

  it("is not ended by an escaped quote", () => {
    expect(mask(String.raw`a = "\"{"; {`).code.match(/{/g)).toHaveLength(1);
  });
});

describe("importsOf", () => {
  it("finds every form of import and what the compiler erases of it", () => {
    const source = `import a from "a";
import type { B } from "b";
import { type C } from "c";
import "d";
export * from "e";
export type * from "f";
import {
  g,
} from "g";
const h = await import("h");
export { i } from 'i';
`;
    expect(importsIn(source)).toEqual(["a", "type b", "c", "d", "e", "type f", "g", "i", "lazy h"]);
  });

  it("is not fooled by comments, strings and exported declarations", () => {
    const source = `// import "a";
const text = 'import "b"';
export const from = "c";
export type D = "d";
export interface E { from: "e" }
import type from "f";
`;
    expect(importsIn(source)).toEqual(["f"]);
  });
});

describe("functionsOf", () => {
  it("measures functions, methods, accessors and arrow functions", () => {
    const source = `function plain(a: string): void {
}
class A {
  constructor(x: { y: number }) {
  }
  private async method<T>(a: T): Promise<{ b: T }> {

  }
  get value(): Map<string, () => void> {
    return x;
  }
}
const arrow = async (a: number): Promise<number[]> => {

};
items.map((item) => {
});
`;
    expect(functionsIn(source)).toEqual([
      "plain 1+2",
      "constructor 4+2",
      "method 6+3",
      "value 9+3",
      "(arrow) 13+3",
      "(arrow) 16+2",
    ]);
  });

  it("counts from the first line of a header that spans several", () => {
    const source =
      "export function wide(\n  a: string,\n  b: { c: number },\n): asserts a is string {\n  x();\n}\n";
    expect(functionsIn(source)).toEqual(["wide 1+6"]);
  });

  it("leaves out blocks, classes, object literals and types", () => {
    const source = `if (a) {
} else {
}
for (const a of b(c)) {
}
switch (f(x)) {
  case "x": {
  }
}
try {
} catch (error) {
}
class A extends b(c) {
}
interface B { c(): { d: string } }
const e = f ? g(h) : { i: 1 };
const j = { k: l(m) };
type N = { o: string };
do {
} while (x);
label: {
}
`;
    expect(functionsIn(source).filter((span) => !span.startsWith("b "))).toEqual([]);
  });

  it("leaves out the chapters of a test file, not the tests in them", () => {
    const source = `describe("a (b) chapter", () => {
  it("is short", async () => {
  });
});
describe.each([1, 2])("chapter %s", (n) => {
});
`;
    expect(functionsIn(source)).toEqual(["(arrow) 2+2"]);
  });
});
