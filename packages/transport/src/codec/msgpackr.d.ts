/**
 * The build of msgpackr that neither compiles code at run time nor loads a native module; it ships without
 * types. Only what `positional.ts` uses is declared.
 */
declare module "msgpackr/index-no-eval" {
  interface PositionalOptions {
    readonly useRecords: false;
    readonly mapsAsObjects: true;
    readonly int64AsType: "number";
  }

  export class Packr {
    constructor(options: PositionalOptions);
    pack(value: unknown): Uint8Array;
  }

  export class Unpackr {
    constructor(options: PositionalOptions);
    unpack(bytes: Uint8Array): unknown;
  }
}
