/** What is refused before a database is asked, and how the answers of drivers are read. */
import { type SqlConnection, type SqlDialect, StaleTermError, sqlFence } from "@quorate/client/fencing/sql";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const dialects: readonly SqlDialect[] = ["postgresql", "mysql", "sqlite"];
const act = { resource: "billing", term: 7 };

/** A connection that answers from a list: by the first words of the statement. */
function scripted(answers: Readonly<Record<string, unknown>>): SqlConnection & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    query(text) {
      asked.push(text);
      const known = Object.keys(answers).find((words) => text.startsWith(words));
      return known === undefined ? { rows: [] } : answers[known];
    },
  };
}

describe("what is refused before a database is asked", () => {
  it.each([
    ["a name with a quote", 'a"b'],
    ["a name that is longer than PostgreSQL keeps", "x".repeat(64)],
    ["three parts", "a.b.c"],
    ["nothing", ""],
    ["a digit first", "1a"],
  ])("%s", (_title, table) => {
    for (const dialect of dialects) expect(() => sqlFence(dialect, { table })).toThrow(/table/);
  });

  it("a dialect that is not known, and timeouts that are none", () => {
    expect(() => sqlFence("oracle" as SqlDialect)).toThrow(/postgresql, mysql, sqlite/);
    expect(() => sqlFence("mysql", { lockTimeoutMs: 0 })).toThrow(/lockTimeoutMs is 0/);
    expect(() => sqlFence("mysql", { idleTimeoutMs: 3_600_001 })).toThrow(/3600001/);
  });

  it.each([0, -1, 1.5, 2 ** 53, Number.NaN, "7", undefined, 7n])("the term %s", async (term) => {
    const connection = scripted({});
    const wrong = { resource: "billing", term: term as number };
    const fence = sqlFence("postgresql");
    expect(() => fence.guardStatements(wrong)).toThrow(/term/);
    await expect(fence.transaction(connection, wrong)).rejects.toThrow(/term/);
    const row = { table: "invoice", key: { id: 1 }, set: {}, term: term as number };
    expect(() => fence.rowStatements(row)).toThrow(/term/);
    expect(connection.asked).toEqual([]);
  });

  it.each(["", "x".repeat(256), "Straße", "a\nb", 7])("the resource %s", (resource) => {
    const named = { resource: resource as string, term: 7 };
    for (const dialect of dialects)
      expect(() => sqlFence(dialect).guardStatements(named)).toThrow(/resource/);
  });

  it("a key without a value, a key of nothing, and the fence as a column to write", () => {
    const fence = sqlFence("sqlite");
    const row = { table: "invoice", set: {}, term: 7 };
    expect(() => fence.rowStatements({ ...row, key: { id: null } })).toThrow(/"id"/);
    expect(() => fence.rowStatements({ ...row, key: {} })).toThrow(/key/);
    expect(() => fence.rowStatements({ ...row, key: { id: 1 }, set: { fence: 3 } })).toThrow(/fence/);
    expect(() => fence.rowStatements({ ...row, key: { 'i"d': 1 } })).toThrow(/column/);
  });

  it("in MySQL a value that its drivers would write into the statement", () => {
    const mysql = sqlFence("mysql");
    const row = { table: "invoice", key: { id: 42 }, set: { paid: true }, term: 7 };
    for (const value of [{ id: 1 }, [1, 2], new Map()]) {
      expect(() => mysql.rowStatements({ ...row, key: { id: value } })).toThrow(
        /"id" is an object or a list/,
      );
      expect(() => mysql.rowStatements({ ...row, set: { paid: value } })).toThrow(/"paid" is an object/);
    }
    const plain = { at: new Date(0), raw: new Uint8Array(1), none: null, text: "{}", big: 1n };
    expect(mysql.rowStatements({ ...row, set: plain }).write.params).toContain(plain.at);
    expect(sqlFence("postgresql").rowStatements({ ...row, set: { tags: [1] } }).write.params).toContainEqual([
      1,
    ]);
  });
});

describe("statements", () => {
  it("carry whatever a user names in their parameters and never in their text", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\x20-\x7e]{1,255}$/), fc.integer({ min: 1 }), (resource, term) => {
        for (const dialect of dialects) {
          const { claim, look } = sqlFence(dialect).guardStatements({ resource, term });
          expect(claim.text).toBe(sqlFence(dialect).guardStatements(act).claim.text);
          expect(claim.params.slice(0, 2)).toEqual([resource, term]);
          expect(look.params).toEqual([resource]);
        }
      }),
    );
  });

  it("of the row fence number their parameters in the order of the text", () => {
    const row = { table: "billing.invoice", key: { id: 42, year: 2026 }, set: { paid: true }, term: 7 };
    expect(sqlFence("postgresql").rowStatements(row)).toEqual({
      write: {
        text:
          'UPDATE "billing"."invoice" SET "paid" = $1, "fence" = $2 WHERE "id" = $3 AND "year" = $4 AND "fence" <= $5' +
          ' RETURNING "fence" AS term',
        params: [true, 7, 42, 2026, 7],
      },
      look: {
        text: 'SELECT "fence" AS term FROM "billing"."invoice" WHERE "id" = $1 AND "year" = $2',
        params: [42, 2026],
      },
    });
  });
});

describe("the answers of drivers", () => {
  const granted: readonly (readonly [string, unknown])[] = [
    ["pg, which gives a bigint as text", { rows: [{ term: "7" }], rowCount: 1 }],
    ["PGlite", { rows: [{ term: 7 }], affectedRows: 1 }],
    ["a driver with bigints", { rows: [{ term: 7n }] }],
    ["SQLite's drivers", [{ term: 7 }]],
  ];

  it.each(granted)("are read as consent: %s", async (_title, answer) => {
    await sqlFence("postgresql").guard(scripted({ INSERT: answer }), act);
  });

  it("are read as consent: mysql2, whose upsert tells nothing", async () => {
    const header = { affectedRows: 0, insertId: 0 };
    await sqlFence("mysql").guard(
      scripted({ INSERT: [header, undefined], SELECT: [[{ term: 7 }], []] }),
      act,
    );
  });

  it.each<[string, SqlDialect, Readonly<Record<string, unknown>>]>([
    ["no rows at all", "postgresql", {}],
    ["undefined", "postgresql", { INSERT: undefined, SELECT: undefined }],
    ["rows as arrays", "postgresql", { INSERT: { rows: [[7]] } }],
    ["another term than was claimed", "postgresql", { INSERT: { rows: [{ term: 6 }] } }],
    ["a term that is no number", "postgresql", { INSERT: { rows: [{ term: "7.0" }] } }],
    ["null", "postgresql", { INSERT: { rows: [{ term: null }] } }],
    [
      "the header alone",
      "mysql",
      { INSERT: [{ affectedRows: 2 }, undefined], SELECT: [{ affectedRows: 1 }, undefined] },
    ],
    ["an older term", "mysql", { SELECT: [[{ term: 6 }], []] }],
    ["two rows", "mysql", { SELECT: [[{ term: 7 }, { term: 7 }], []] }],
  ])("are never read as consent: %s", async (_title, dialect, answers) => {
    const refused = sqlFence(dialect).guard(scripted(answers), act);
    await expect(refused).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("are read as a refusal, with the newer term", async () => {
    const connection = scripted({ INSERT: { rows: [] }, SELECT: { rows: [{ term: "9" }] } });
    const refused = sqlFence("postgresql").transaction(connection, act, () =>
      connection.query("my work", []),
    );
    await expect(refused).rejects.toEqual(new StaleTermError("billing", 7, 9));
    expect(connection.asked).not.toContain("my work");
    expect(connection.asked.at(-1)).toBe("ROLLBACK");
    expect(connection.asked).not.toContain("COMMIT");
  });

  it("are errors of the database as they are, with a rollback after them", async () => {
    const broken: SqlConnection = {
      query: (text) => (text.startsWith("INSERT") ? Promise.reject(new Error("lock timeout")) : { rows: [] }),
    };
    await expect(sqlFence("sqlite").transaction(broken, act)).rejects.toThrow("lock timeout");
  });
});
