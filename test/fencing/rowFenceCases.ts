/** What the row fence does, the same in every database. */
import { type SqlFence, StaleTermError } from "@quorate/client/fencing/sql";
import { beforeEach, expect, it } from "vitest";
import type { OpenConnection } from "./sqlWorld.ts";

export function rowFenceCases(fence: SqlFence, connection: () => OpenConnection): void {
  const update = (id: number, paid: number, term: number): Promise<boolean> =>
    fence.updateRow(connection(), { table: "invoice", key: { id }, set: { paid }, term });
  const invoice = async (): Promise<string> => {
    const [row] = await connection().rows("SELECT paid, fence FROM invoice WHERE id = 42");
    return `${row?.paid} by ${row?.fence}`;
  };

  beforeEach(async () => {
    await connection().query("DROP TABLE IF EXISTS invoice");
    await connection().query(
      "CREATE TABLE invoice (id bigint PRIMARY KEY, paid integer NOT NULL, fence bigint NOT NULL DEFAULT 0)",
    );
    await connection().query("INSERT INTO invoice (id, paid) VALUES (42, 0)");
  });

  it("writes a row under its term, again, and under a newer one", async () => {
    expect(await update(42, 1, 7)).toBe(true);
    expect(await update(42, 2, 7)).toBe(true);
    expect(await update(42, 3, 8)).toBe(true);
    expect(await invoice()).toBe("3 by 8");
  });

  it("takes a row that is as it should be already for written, which MySQL does not count", async () => {
    expect(await update(42, 1, 7)).toBe(true);
    expect(await update(42, 1, 7)).toBe(true);
  });

  it("refuses an older term and leaves the row", async () => {
    await update(42, 1, 9);
    const refusal = await update(42, 2, 8).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StaleTermError);
    expect(refusal).toMatchObject({ term: 8, highest: 9, resource: "invoice" });
    expect(await invoice()).toBe("1 by 9");
  });

  it("tells a row that does not exist from one that is refused", async () => {
    expect(await update(43, 1, 7)).toBe(false);
  });
}
