import { Help } from "commander";

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

/** The command line is wrong: exit code 2. Any other error: 1. */
export class UsageError extends Error {}

/** Exit codes, as POSIX shells have them. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** Control characters (C0, DEL, C1) except tab and line feed, and characters that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A text for a terminal: devices choose names, descriptions and messages, and could move the cursor or change the colours.
 * Control characters become escapes like `\u001b`, which JSON still reads as the same. Tabs and line feeds stay.
 */
export function printable(text: string): string {
	return text.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The same, on one line. */
export function printableLine(text: string): string {
	return printable(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}
