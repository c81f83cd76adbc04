/**
 * The build of msgpackr that neither compiles code at run time nor loads a native module; it ships without types, and
 * only what `positional.ts` uses is declared.
 *
 * Taken by `require`: imported, Node.js would first search it for the names that it exports, which takes longer than
 * running it.
 */
import { createRequire } from "node:module";

interface PositionalOptions {
  readonly useRecords: false;
  readonly mapsAsObjects: true;
  readonly int64AsType: "number";
}

interface Msgpackr {
  readonly Packr: new (options: PositionalOptions) => { pack(value: unknown): Uint8Array };
  readonly Unpackr: new (options: PositionalOptions) => { unpack(bytes: Uint8Array): unknown };
}

const require = createRequire(import.meta.url);
const msgpackr = require("msgpackr/index-no-eval") as Msgpackr;

export const Packr: Msgpackr["Packr"] = msgpackr.Packr;
export const Unpackr: Msgpackr["Unpackr"] = msgpackr.Unpackr;
