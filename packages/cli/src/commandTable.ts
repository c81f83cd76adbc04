/**
 * Every command of `quorate` and every option that it takes, as data: the parser, `--help` and the reference page's
 * test read this one table. Must import nothing heavy, for every start of every node reads it.
 */

export type CommandName =
  | "cluster"
  | "node"
  | "put"
  | "get"
  | "delete"
  | "list"
  | "watch"
  | "txn"
  | "limits"
  | "status"
  | "transfer"
  | "member"
  | "snapshot"
  | "recover"
  | "doctor"
  | "lock"
  | "elect"
  | "lease"
  | "session"
  | "sim"
  | "demo";

export type OptionName =
  | "after"
  | "force"
  | "once"
  | "try"
  | "ttl"
  | "wait"
  | "base-port"
  | "config"
  | "confirm"
  | "cursor"
  | "data-dir"
  | "endpoints"
  | "ephemeral"
  | "events"
  | "from"
  | "grant-at-once"
  | "help"
  | "history-bytes"
  | "history-revisions"
  | "html"
  | "id"
  | "if-absent"
  | "if-revision"
  | "if-index"
  | "insecure"
  | "join"
  | "json"
  | "keys-only"
  | "layer"
  | "learner"
  | "priority"
  | "limit"
  | "list"
  | "listen"
  | "log-level"
  | "minimize"
  | "no-table"
  | "nodes"
  | "peers"
  | "prefix"
  | "prev-kv"
  | "profile"
  | "quota-bytes"
  | "replay"
  | "revision"
  | "secret-file"
  | "seed"
  | "seeds"
  | "time"
  | "timeout"
  | "tls-ca"
  | "tls-cert"
  | "tls-key"
  | "version";

export interface OptionSpec {
  /** The placeholder of the option's value; undefined for a switch. */
  readonly value: string | undefined;
  readonly about: string;
  /** Whether the value may be "", which is a forgotten one otherwise: an unset variable of a script. */
  readonly mayBeEmpty?: true;
}

function taking(value: string, about: string): OptionSpec {
  return { value, about };
}

function flag(about: string): OptionSpec {
  return { value: undefined, about };
}

export const optionTable: Readonly<Record<OptionName, OptionSpec>> = {
  after: taking("TIME", "break: let the holder go on for so long (default: not at all)"),
  force: flag("break: grant it to the next one at once, though the holder may not know yet"),
  once: flag("end with code 121 when the lease is lost, in place of standing again"),
  try: flag("do not wait where somebody else has it"),
  ttl: taking("TIME", "how long after its last sign of life it may go to somebody else (default 15s)"),
  wait: taking("TIME", "how long to wait for it (default: as long as it takes)"),
  "base-port": taking("PORT", "port of node a; b, c … take the next ones (default 7101)"),
  config: taking("FILE", "JSON file with these options; what is given here wins"),
  confirm: taking("ID", "the node whose data it is: yes, make a new cluster of what it has"),
  cursor: taking("CURSOR", "go on after an earlier page, whose cursor this is"),
  "data-dir": taking("DIR", "where its data is kept"),
  endpoints: taking(
    "ADDRESSES",
    "ws://host:port,… (default: QUORATE_ENDPOINTS, else ws://127.0.0.1:7101 to 7103)",
  ),
  ephemeral: flag("keep the data in a temporary directory, removed at the end"),
  events: taking("N", "stop misbehaving after so many events of a seed"),
  from: taking("N", "begin with the changes of revision N (default: what happens from now on)"),
  "grant-at-once": flag(
    "do not wait for holders of the old cluster's leases: none of them believes in one any more",
  ),
  help: flag("show help"),
  "history-bytes": taking("N", "bytes of history that the cluster keeps"),
  "history-revisions": taking("N", "revisions of history that the cluster keeps"),
  html: taking("FILE", "write a page of the run, to look at in a browser; with --seed or --replay"),
  id: taking("ID", "this node's name, as in --peers"),
  "if-absent": flag("write only if the key does not exist"),
  "if-revision": taking("N", "write only if the key's modRevision is N"),
  "if-index": taking(
    "N",
    "change only if the membership is still the one of this index (member list shows it)",
  ),
  insecure: flag("listen off the loopback with neither TLS nor a secret"),
  join: taking("ADDRESSES", "join the running cluster of these members, in place of --peers"),
  json: flag("print JSON, one object a line"),
  "keys-only": flag("print keys without values"),
  layer: taking("LAYER", "store (default): whole nodes; raft: nothing above Raft; core: the core alone"),
  learner: flag("with --join: be sent everything, and do not vote"),
  limit: taking("N", "pairs on a page, 1 to 10000 (default 1000)"),
  list: flag("show profiles, invariants and required marks, and run nothing"),
  listen: taking("ADDRESS", "ws://host:port (wss:// with TLS) to listen at"),
  "log-level": taking("LEVEL", "debug, info, warn, error or silent (node: info, cluster: warn)"),
  minimize: flag("make the schedule of a violation as small as it goes"),
  "no-table": flag("print plain lines on a terminal too"),
  nodes: taking("N", "1, 3 or 5 (default: as many as the data has, else 3)"),
  peers: taking("LIST", "a=ws://host:port,b=… : every node of the cluster, this one too"),
  priority: taking("N", "1 to 100, default 1: a leader hands over to a node of higher priority"),
  prefix: { ...taking("PREFIX", 'watch all keys that begin with it; "" is every key'), mayBeEmpty: true },
  "prev-kv": flag("with --json: also show the pair that was replaced or deleted"),
  profile: taking("NAME", "what goes wrong; --list tells the names (default swarm)"),
  "quota-bytes": taking("N", "bytes that the cluster's store may hold"),
  replay: taking("FILE", "run the schedule in FILE and print its trace"),
  revision: taking("N", "read the store as it was at revision N"),
  "secret-file": taking("FILE", "file with the shared secret (default: the variable QUORATE_SECRET)"),
  seed: taking("N", "run this one seed"),
  seeds: taking("A..B", "run these seeds (default 1..100)"),
  time: taking("TIME", "virtual time of misbehaviour for each seed (default 8s)"),
  timeout: taking("TIME", "how long to try, e.g. 500ms, 5s, 1m (default 5s)"),
  "tls-ca": taking("FILE", "PEM certificates to trust"),
  "tls-cert": taking("FILE", "this node's PEM certificate"),
  "tls-key": taking("FILE", "the PEM private key of --tls-cert"),
  version: flag("show the version"),
};

export interface CommandSpec {
  /** Names of positional arguments; those in brackets may be left out, and one that ends in … stands for several. */
  readonly positionals: readonly string[];
  readonly about: string;
  readonly options: readonly OptionName[];
  /** Where an option means something else than to other commands. */
  readonly abouts?: Readonly<Partial<Record<OptionName, string>>>;
  readonly notes: string;
}

const connection: readonly OptionName[] = ["endpoints", "timeout", "json", "secret-file", "tls-ca"];

export const commandTable: Readonly<Record<CommandName, CommandSpec>> = {
  cluster: {
    positionals: [],
    about: "run a cluster of real node processes on this machine",
    options: ["nodes", "base-port", "data-dir", "ephemeral", "json", "no-table", "log-level"],
    abouts: { "data-dir": "where data is kept (default quorate-data)" },
    notes:
      "A node that crashes is started again; one that a storage fault stopped is not. Ctrl-C stops the nodes in\n" +
      "turn, a second Ctrl-C at once. A later run finds its data, with other ports too.",
  },
  node: {
    positionals: [],
    about: "run one node of a cluster, for real hosts",
    options: [
      "id",
      "listen",
      "peers",
      "join",
      "learner",
      "priority",
      "data-dir",
      "config",
      "log-level",
      "secret-file",
      "tls-cert",
      "tls-key",
      "tls-ca",
      "insecure",
    ],
    notes:
      "Logs go to standard error, as JSON lines where that is no terminal. SIGTERM and SIGINT stop the node.",
  },
  put: {
    positionals: ["KEY", "VALUE|-"],
    about: "write a value; - reads it from standard input",
    options: ["if-revision", "if-absent", ...connection],
    notes: "Prints the new revision.",
  },
  get: {
    positionals: ["KEY"],
    about: "print a key's value as it is",
    options: ["revision", ...connection],
    notes: "The value's bytes are printed as they are; on a terminal a line break follows.",
  },
  delete: {
    positionals: ["KEY"],
    about: "delete a key",
    options: ["if-revision", ...connection],
    notes: "Prints the new revision.",
  },
  list: {
    positionals: ["[PREFIX]"],
    about: "print the pairs whose keys begin with PREFIX",
    options: ["limit", "cursor", "keys-only", "revision", ...connection],
    notes: "One pair a line, key and value separated by a tab; control characters are escaped as in JSON.",
  },
  watch: {
    positionals: ["[KEY]"],
    about: "print changes of a key, or of all keys with a prefix, as they happen",
    options: ["prefix", "from", "prev-kv", ...connection],
    notes:
      "Revision, put or delete, key and value, separated by tabs. Ends with an error where it could not go on without\n" +
      "leaving something out.",
  },
  txn: {
    positionals: ["FILE|-"],
    about: "run the transaction that a JSON file, or standard input, describes",
    options: connection,
    notes:
      '{"if": [{"key": "a", "version": 0}], "then": [{"put": "a", "value": 1}], "else": [{"get": "a"}]}\n' +
      "Prints which branch ran and the revision, then what its reads found. Exit code 4 where `else` ran.",
  },
  limits: {
    positionals: [],
    about: "show or change how much history and data the cluster keeps",
    options: ["history-revisions", "history-bytes", "quota-bytes", ...connection],
    notes: "They hold for all nodes.",
  },
  status: {
    positionals: [],
    about: "show what each node of the cluster says",
    options: connection,
    notes: "Exit code 3 where no node answers or none leads.",
  },
  transfer: {
    positionals: ["[NODE]"],
    about: "hand leadership to another node",
    options: connection,
    notes: "Prints who leads now. Without NODE it is the voter that is best caught up.",
  },
  member: {
    positionals: ["ACTION", "[ID]", "[ENDPOINT]"],
    about: "list|promote|demote|remove|move: show and change who belongs to the cluster",
    options: ["if-index", ...connection],
    notes:
      "list; promote ID, a learner becomes a voter when it has caught up; demote ID; remove ID; move ID ENDPOINT.\n" +
      "A node adds itself, or takes the place of one that was wiped: quorate node --join.",
  },
  snapshot: {
    positionals: ["ACTION", "FILE"],
    about: "save|inspect|restore: back the store up, look at a backup, make a new cluster of it",
    options: ["data-dir", "id", "listen", "grant-at-once", ...connection],
    abouts: {
      "data-dir": "save: the directory of a stopped node; restore: one to be made",
      id: "restore: the first member's name",
      listen: "restore: ws://host:port at which the first member will listen",
    },
    notes:
      "save FILE, of a cluster that runs, or with --data-dir DIR of a stopped node; inspect FILE;\n" +
      "restore FILE --data-dir DIR --id ID --listen ADDRESS makes a new cluster of one node, which others join:\n" +
      "sessions are ended, the revision jumps, and no lease is granted until the longest time to live of the old ones\n" +
      "is over, unless --grant-at-once says that nobody believes in one any more.",
  },
  recover: {
    positionals: ["DIR"],
    about: "a majority is lost for good: make one node the only member of a new cluster",
    options: ["confirm", "listen", "grant-at-once", "json"],
    abouts: { listen: "ws://host:port at which it will listen (default: as before)" },
    notes:
      "Says what may be lost, and does nothing without --confirm ID. The old directory is kept. Leases: as in\n" +
      "snapshot restore.",
  },
  doctor: {
    positionals: ["DIR"],
    about: "examine a node's data directory, or a cluster's, without changing it",
    options: ["json"],
    notes: "Exit code 1 where something is wrong.",
  },
  lock: {
    positionals: ["NAME", "CMD…"],
    about: "run a command while holding a lease",
    options: ["ttl", "try", "wait", ...connection],
    notes:
      "quorate lock nightly -- ./job all. The command finds QUORATE_TERM and QUORATE_DEADLINE in its environment. It\n" +
      "is asked to end (SIGTERM) when the lease is in danger or asked for, and killed at its deadline. Exit code: the command's own;\n" +
      "120 not acquired, 121 lost, 125 quorate failed, 126 the command cannot be run, 127 there is no such command.",
  },
  elect: {
    positionals: ["NAME", "CMD…"],
    about: "run a command as long as this process leads; on a loss stand again",
    options: ["ttl", "once", ...connection],
    notes:
      "Like lock, but waits for ever, and after a loss stands for election again until the command ends by itself. With\n" +
      "--once a loss is the end, with exit code 121.",
  },
  lease: {
    positionals: ["ACTION", "[NAME]"],
    about: "acquire|release|show|list|break|grant-at-once: look at leases, hold one, end one",
    options: ["ttl", "try", "wait", "after", "force", "limit", ...connection],
    abouts: { limit: "list: at most so many, 1 to 10000 (default 1000)" },
    notes:
      "acquire NAME prints the term, and holds the lease until it is interrupted, asked for, or its standard input ends;\n" +
      "release NAME asks the holder to finish; show NAME and who held it before; list [PREFIX]; break NAME takes it from the holder, after --after TIME.\n" +
      "--force grants it to the next one at once, though the holder may not know: only fencing protects then.\n" +
      "grant-at-once ends the grace period of a restored cluster: nobody believes in a lease of the old one any more.",
  },
  session: {
    positionals: ["ACTION", "[ID]"],
    about: "list|close: the sessions of all clients, and the end of one",
    options: ["limit", ...connection],
    abouts: { limit: "list: at most so many, 1 to 10000, those that were opened first (default: all)" },
    notes:
      "list shows each session's time to live, the silence that was logged of it, the leases that it holds and waits\n" +
      "for, and its attached keys; close ID ends one that holds no lease and waits for none, with exit code 5 where\n" +
      "there is none.",
  },
  sim: {
    positionals: [],
    about: "run whole clusters in virtual time, with faults on purpose",
    options: [
      "seed",
      "seeds",
      "nodes",
      "profile",
      "layer",
      "events",
      "time",
      "replay",
      "minimize",
      "html",
      "json",
      "list",
    ],
    abouts: { nodes: "3, 5 (default) or 7", json: "print JSON, one object a seed, and the sums at the end" },
    notes:
      "Exit code 1 where an invariant is violated, or a required mark was not reached by 300 seeds or more. The\n" +
      "schedule of a violation is written to quorate-sim-SEED.json.",
  },
  demo: {
    positionals: ["STORY"],
    about: "billing: play the nightly billing run for real, and see what fencing is for",
    options: [],
    notes:
      "A cluster, a database, three schedulers; one is frozen past its lease. Half a minute; exit code 1 where the\n" +
      "database's totals are not as they should be. Needs @electric-sql/pglite.",
  },
};

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commandTable, name);
}

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(optionTable, name);
}

/** What follows a command's name, for people: the command of another program stands behind `--`. */
export function wordsOf(command: CommandName): readonly string[] {
  return commandTable[command].positionals.map((word) => (word.endsWith("…") ? `-- ${word}` : word));
}
