/**
 * A table under construction: columns of numbers that grow at the end and are cut off at the front.
 *
 * Rows keep their identity when earlier ones are dropped. Must never reorder rows.
 */
export class Rows<Column extends string> {
  private readonly names: readonly Column[];
  private columns: Record<Column, number[]>;
  /** How many rows were dropped from the front. */
  private dropped = 0;

  constructor(names: readonly Column[]) {
    this.names = names;
    this.columns = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Column, number[]>;
  }

  get length(): number {
    return this.columns[this.names[0] as Column].length;
  }

  /** Gives the row's identity. */
  add(row: Readonly<Record<Column, number>>): number {
    for (const name of this.names) this.columns[name].push(row[name]);
    return this.dropped + this.length - 1;
  }

  /** A row that was dropped stays dropped. */
  set(row: number, column: Column, value: number): void {
    const at = row - this.dropped;
    if (at >= 0) this.columns[column][at] = value;
  }

  /** The rows before the first whose `column` is at least `value`, which must be ascending. */
  rowsBefore(column: Column, value: number): Record<Column, number>[] {
    const found: Record<Column, number>[] = [];
    for (let at = 0; at < this.length && (this.columns[column][at] as number) < value; at += 1) {
      found.push(this.rowAt(at));
    }
    return found;
  }

  /** Drops the rows before the first whose `column` is at least `value`; the column must be ascending. */
  dropBefore(column: Column, value: number): void {
    const found = this.columns[column].findIndex((one) => one >= value);
    const count = found < 0 ? this.length : found;
    for (const name of this.names) this.columns[name] = this.columns[name].slice(count);
    this.dropped += count;
  }

  private rowAt(at: number): Record<Column, number> {
    return Object.fromEntries(this.names.map((name) => [name, this.columns[name][at] as number])) as Record<
      Column,
      number
    >;
  }

  /** The rows so far, as a copy. */
  table(): Record<Column, number[]> {
    return Object.fromEntries(this.names.map((name) => [name, [...this.columns[name]]])) as unknown as Record<
      Column,
      number[]
    >;
  }
}
