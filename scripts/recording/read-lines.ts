import headless, { type IBufferCell, type IBufferLine } from "@xterm/headless";
import type { Chunk } from "./record-terminal.js";

/** Colours of a terminal, by their numbers; undefined: the usual one. */
export type Ink = "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | undefined;

const INKS: readonly Ink[] = [undefined, "red", "green", "yellow", "blue", "magenta", "cyan"];

/** Characters of one look. */
export interface Span {
	readonly column: number;
	/** In columns: a Chinese character takes two. */
	readonly width: number;
	readonly text: string;
	readonly ink: Ink;
	readonly bold: boolean;
	readonly dim: boolean;
}

/** What a line showed for a while. */
export interface LineVersion {
	/** From the first line that was ever printed. */
	readonly line: number;
	/** Milliseconds since the start. */
	readonly from: number;
	/** Undefined: until the end. */
	to?: number;
	readonly spans: readonly Span[];
}

/** What a terminal showed, line by line. */
export interface ShownLines {
	readonly versions: readonly LineVersion[];
	/** From when on which line is the topmost one. */
	readonly tops: readonly { readonly at: number; readonly line: number }[];
}

/** Milliseconds within which prints are shown at once. */
const FRAME = 20;

/** Replays a recording in a terminal without a screen. */
export async function readLines(chunks: readonly Chunk[], columns: number, rows: number): Promise<ShownLines> {
	const terminal = new headless.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
	const versions: LineVersion[] = [];
	const shown = new Map<number, { readonly key: string; readonly version: LineVersion }>();
	const tops: { at: number; line: number }[] = [{ at: 0, line: 0 }];
	for (const { at, text } of gather(chunks)) {
		await new Promise<void>((resolve) => terminal.write(text, resolve));
		const buffer = terminal.buffer.active;
		for (let line = 0; line < buffer.length; line += 1) {
			const spans = spansOf(buffer.getLine(line), columns);
			const key = JSON.stringify(spans);
			const before = shown.get(line);
			if (key === (before?.key ?? "[]")) {
				continue;
			}
			if (before !== undefined) {
				before.version.to = at;
			}
			const version = { line, from: at, spans };
			versions.push(version);
			shown.set(line, { key, version });
		}
		if (buffer.baseY !== tops.at(-1)?.line) {
			tops.push({ at, line: buffer.baseY });
		}
	}
	terminal.dispose();
	return { versions: versions.filter(({ spans }) => spans.length > 0), tops };
}

function gather(chunks: readonly Chunk[]): Chunk[] {
	const frames: Chunk[] = [];
	for (const { at, text } of chunks) {
		const last = frames.at(-1);
		if (last !== undefined && at - last.at < FRAME) {
			frames[frames.length - 1] = { at: last.at, text: last.text + text };
		} else {
			frames.push({ at, text });
		}
	}
	return frames;
}

function spansOf(line: IBufferLine | undefined, columns: number): Span[] {
	const spans: { -readonly [Key in keyof Span]: Span[Key] }[] = [];
	for (let column = 0; column < columns; column += 1) {
		const cell = line?.getCell(column);
		const width = cell?.getWidth() ?? 0;
		if (cell === undefined || width === 0) {
			continue;
		}
		const look = lookOf(cell);
		const text = cell.getChars() || " ";
		const last = spans.at(-1);
		if (last !== undefined && last.ink === look.ink && last.bold === look.bold && last.dim === look.dim) {
			last.text += text;
			last.width += width;
		} else {
			spans.push({ column, width, text, ...look });
		}
	}
	return spans.flatMap(trim);
}

function lookOf(cell: IBufferCell): Pick<Span, "ink" | "bold" | "dim"> {
	const ink = cell.isFgPalette() ? INKS[cell.getFgColor() % 8] : undefined;
	return { ink, bold: cell.isBold() !== 0, dim: cell.isDim() !== 0 };
}

/** Spaces are not drawn. */
function trim(span: Span): Span[] {
	const begin = span.text.length - span.text.trimStart().length;
	const text = span.text.trim();
	const cut = span.text.length - text.length;
	return text === "" ? [] : [{ ...span, column: span.column + begin, width: span.width - cut, text }];
}
