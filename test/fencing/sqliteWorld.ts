/**
 * SQLite, as WebAssembly with files: several connections to one database. Nobody waits; who would is told that it is
 * busy.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sqlite from "node-sqlite3-wasm";
import type { OpenConnection, Row, SqlWorld } from "./sqlWorld.ts";

export interface SqliteWorld extends SqlWorld, Disposable {}

export function sqliteWorld(): SqliteWorld {
  const folder = mkdtempSync(join(tmpdir(), "quorate-sqlite-"));
  const opened: sqlite.Database[] = [];
  return {
    dialect: "sqlite",
    async connect(): Promise<OpenConnection> {
      const database = new sqlite.Database(join(folder, "test.db"));
      opened.push(database);
      // Nothing here is about power cuts.
      database.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF");
      const all = (text: string, params: unknown[] = []): Row[] =>
        database.all(text, params as sqlite.JSValue[]) as Row[];
      return {
        query: async (text, params) => all(text, params),
        rows: async (text) => all(text),
        isWaiting: async () => false,
        close: async () => database.close(),
      };
    },
    [Symbol.dispose]() {
      for (const database of opened) if (database.isOpen) database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function isBusy(error: unknown): boolean {
  return error instanceof Error && /database is locked/.test(error.message);
}
