import { Help } from "commander";
import { printable, printableLine } from "../printable.js";

/** Prints a text on standard output. */
export function print(text: string): void {
	process.stdout.write(`${printable(text)}\n`);
}

/** Prints a paragraph, wrapped at the terminal's width. */
export function printParagraph(text: string, indent = ""): void {
	const { columns = Number.POSITIVE_INFINITY } = process.stdout;
	const wrapped = new Help().boxWrap(printable(text), columns - indent.length);
	process.stdout.write(`${wrapped.replaceAll(/^/gm, indent)}\n`);
}

/** Prints rows in columns; if the terminal is too narrow for that, each row as a paragraph. */
export function printTable(rows: readonly (readonly string[])[]): void {
	const lines = rows.map((row) => row.map(printableLine));
	const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)));
	const total = widths.reduce((sum, width) => sum + width + 2, -2);
	if (total > (process.stdout.columns ?? Number.POSITIVE_INFINITY)) {
		for (const [first = "", ...rest] of lines.slice(1)) {
			print(first);
			printParagraph(rest.join(", "), "    ");
		}
		return;
	}
	for (const row of lines) {
		const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
		print(cells.join("  ").trimEnd());
	}
}
