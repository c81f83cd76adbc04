/** How a known bug and the test that plays it are written down. */

export interface Covered {
  /** Where the bug was seen, and in a few words what it was. */
  readonly bug: string;
  readonly file: string;
  readonly title: string;
}

export interface Absent {
  readonly bug: string;
  readonly because: string;
}

type Row = readonly [bug: string, title: string];

export function inFile(file: string, rows: readonly Row[]): Covered[] {
  return rows.map(([bug, title]) => ({ bug, file, title }));
}
