/** Rows of words under a header, in columns as wide as they must be. Pure. */

/** No line is longer than `width`; nothing follows the last word of a line. */
export function textTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width: number = Number.POSITIVE_INFINITY,
): readonly string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .slice(0, width)
      .trimEnd(),
  );
}
