/** A table of strings, each once, for columns that point into it. Bounded: when it is full, new ones are `…`. */
export class Strings {
  readonly values: string[] = ["…"];
  private readonly places = new Map<string, number>();
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  placeOf(value: string): number {
    const known = this.places.get(value);
    if (known !== undefined) return known;
    if (this.values.length >= this.limit) return 0;
    this.values.push(value);
    this.places.set(value, this.values.length - 1);
    return this.values.length - 1;
  }
}
