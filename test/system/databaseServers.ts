/**
 * Debian's PostgreSQL and MariaDB as processes of a test's own: a port that the system chose, a temporary directory,
 * ended and removed afterwards. They sync nothing: no test here is about their disks.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, createConnection } from "mysql2/promise";
import { Client } from "pg";
import type { OpenConnection, Row, SqlWorld } from "../fencing/sqlWorld.ts";
import { until, within } from "../process/rig/waiting.ts";

export interface DatabaseServer extends SqlWorld, AsyncDisposable {}

/** Debian keeps them out of the PATH, one directory a version. */
function postgresqlPrograms(): string | undefined {
  const base = "/usr/lib/postgresql";
  const versions = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(base, version, "bin")).find((bin) => existsSync(join(bin, "initdb")));
}

export const postgresqlIsMissing: string | undefined =
  postgresqlPrograms() === undefined ? "needs Debian's postgresql, which is not installed" : undefined;

function systemChosenPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

interface Started {
  readonly child: ChildProcess;
  readonly log: () => string;
}

function start(command: string, args: readonly string[], identity: { uid?: number; gid?: number }): Started {
  const child = spawn(command, args, { ...identity, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-10_000);
  });
  return { child, log: () => log };
}

async function stop({ child, log }: Started, signal: NodeJS.Signals, folder: string): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once("exit", () => resolve());
  });
  child.kill(signal);
  await within("the end of the database", ended).catch((error: Error) => {
    child.kill("SIGKILL");
    throw new Error(`${error.message}: ${log()}`);
  });
  rmSync(folder, { recursive: true, force: true });
}

async function firstConnection<T>(server: Started, connect: () => Promise<T>): Promise<T> {
  return until(`the database takes connections: ${server.log()}`, async () => {
    const { exitCode } = server.child;
    if (exitCode !== null) throw new Error(`The database ended with ${exitCode}: ${server.log()}`);
    return connect();
  });
}

/** PostgreSQL refuses to run as root. */
function nobody(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

export async function startPostgresql(): Promise<DatabaseServer> {
  const bin = postgresqlPrograms();
  if (bin === undefined) throw new Error(postgresqlIsMissing);
  const folder = mkdtempSync(join(tmpdir(), "quorate-postgresql-"));
  const identity = nobody();
  if (identity.uid !== undefined) chownSync(folder, identity.uid, identity.gid ?? identity.uid);
  const data = join(folder, "data");
  const init = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync", "-D", data];
  execFileSync(join(bin, "initdb"), init, { ...identity, cwd: folder, stdio: "pipe" });
  const port = await systemChosenPort();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"];
  const server = start(
    join(bin, "postgres"),
    ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])],
    identity,
  );
  const open = async (): Promise<Client> => {
    const client = new Client({ host: "127.0.0.1", port, user: "postgres", database: "postgres" });
    await client.connect();
    // A connection that the database ends says so to the next query as well.
    client.on("error", () => {});
    return client;
  };
  const observer = await firstConnection(server, open);
  return {
    dialect: "postgresql",
    connect: async () => postgresqlConnection(await open(), observer),
    async [Symbol.asyncDispose]() {
      await observer.end();
      await stop(server, "SIGINT", folder);
    },
  };
}

function postgresqlConnection(client: Client, observer: Client): OpenConnection {
  const { processID } = client as Client & { readonly processID: number };
  return {
    query: (text, params = []) => client.query(text, params),
    rows: async (text) => (await client.query<Row>(text)).rows,
    async isWaiting() {
      const { rows } = await observer.query("SELECT pg_blocking_pids($1) <> '{}' AS waits", [processID]);
      return rows[0]?.waits === true;
    },
    close: () => client.end(),
  };
}

export async function startMariadb(): Promise<DatabaseServer> {
  const folder = mkdtempSync(join(tmpdir(), "quorate-mariadb-"));
  mkdirSync(join(folder, "data"));
  const port = await systemChosenPort();
  const server = start(
    "mariadbd",
    [
      "--no-defaults",
      `--datadir=${join(folder, "data")}`,
      `--socket=${join(folder, "socket")}`,
      `--pid-file=${join(folder, "pid")}`,
      `--port=${port}`,
      "--bind-address=127.0.0.1",
      // It knows no users, so that no tables of users need to be made first; on the loopback, for as long as a test.
      "--skip-grant-tables",
      "--skip-networking=0",
      "--innodb-flush-log-at-trx-commit=0",
      "--innodb-buffer-pool-size=16M",
      ...(process.getuid?.() === 0 ? ["--user=root"] : []),
    ],
    {},
  );
  const open = (database?: string): Promise<Connection> =>
    createConnection({ host: "127.0.0.1", port, user: "root", ...(database ? { database } : {}) });
  const observer = await firstConnection(server, open);
  await observer.query("CREATE DATABASE test");
  return {
    dialect: "mysql",
    async connect() {
      const connection = await open("test");
      // Tables are dropped between cases: one that is in use is to be an error, not the default's wait of a day.
      await connection.query("SET SESSION lock_wait_timeout = 10");
      return mariadbConnection(connection, observer);
    },
    async [Symbol.asyncDispose]() {
      await observer.end();
      await stop(server, "SIGTERM", folder);
    },
  };
}

// The tables of information_schema on locks are renewed only when nobody has looked at them for a while.
const lockWaits = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'";

function mariadbConnection(connection: Connection, observer: Connection): OpenConnection {
  // A connection that the database ends says so to the next query as well.
  connection.on("error", () => {});
  return {
    query: (text, params = []) => connection.query(text, params),
    rows: async (text) => (await connection.query(text))[0] as Row[],
    async isWaiting() {
      // Of all connections: where it is asked, no other one can be waiting.
      const [rows] = await observer.query(lockWaits);
      return Number((rows as Row[])[0]?.Value) > 0;
    },
    close: () => connection.end(),
  };
}
