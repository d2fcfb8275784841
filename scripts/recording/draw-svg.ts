import headless, { type IBufferCell, type IBufferLine } from "@xterm/headless";

/** Output of a terminal at one moment. */
export interface Chunk {
	/** Milliseconds since the start. */
	readonly at: number;
	/** With the terminal's control sequences. */
	readonly text: string;
}

interface Drawing {
	readonly columns: number;
	readonly rows: number;
	/** Milliseconds for which the last picture stays. */
	readonly last: number;
	/** For those who cannot see it. */
	readonly title: string;
}

/** A line's drawing for a period. */
interface Shown {
	readonly line: number;
	readonly drawing: string;
	/** Milliseconds. */
	readonly from: number;
	to?: number;
}

/** Sizes in pixels. */
const CELL = { width: 8.4, height: 19 };
const FONT_SIZE = 14;
const MARGIN = 16;

/** A terminal's colours from red on, by their numbers. */
const INKS = ["#ff8278", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea"];

const FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";

/** Milliseconds within which prints are shown at once. */
const FRAME = 20;

/** Draws a recording as an SVG that moves by itself and loads nothing. With reduced motion it shows its end. */
export async function drawSvg(chunks: readonly Chunk[], { columns, rows, last, title }: Drawing): Promise<string> {
	const terminal = new headless.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
	const duration = Math.round((chunks.at(-1)?.at ?? 0) + last);
	const percent = (at: number): string => `${round((100 * at) / duration)}%`;
	const lines: Shown[] = [];
	const current = new Map<number, Shown>();
	let scroll = "";
	let top = "";
	for (const { at: exact, text } of chunks) {
		await new Promise<void>((resolve) => terminal.write(text, resolve));
		const at = FRAME * Math.floor(exact / FRAME);
		const { active } = terminal.buffer;
		for (let line = 0; line < active.length; line += 1) {
			const drawing = drawLine(active.getLine(line) as IBufferLine, columns);
			const before = current.get(line);
			if (drawing !== (before?.drawing ?? "")) {
				Object.assign(before ?? {}, { to: at });
				const shown = { line, drawing, from: at };
				current.set(line, shown);
				lines.push(shown);
			}
		}
		const moved = `{transform:translateY(${-active.baseY * CELL.height}px)}`;
		scroll += moved === top ? "" : `${percent(at)}${moved}`;
		top = moved;
	}
	terminal.dispose();
	const rules = new Map<string, string>();
	const drawn = lines
		.filter(({ drawing, from, to }) => drawing !== "" && from !== to)
		.map(({ line, drawing, from, to }) => {
			const visible = `{0%{visibility:hidden}${percent(from)}{visibility:visible}`;
			const rule = to === undefined ? `${visible}}` : `${visible}${percent(to)}{visibility:hidden}}`;
			const name = rules.get(rule) ?? `t${rules.size}`;
			rules.set(rule, name);
			// It is hidden without an animation, unless it is there at the end.
			const still = to === undefined ? "a" : "a h";
			return `<text y="${line * CELL.height + FONT_SIZE}" class="${still}" style="animation-name:${name}">${drawing}</text>`;
		});
	const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
	const height = rows * CELL.height + 2 * MARGIN;
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeText(title)}</title>
<style>
text{font:${FONT_SIZE}px ${FONTS};fill:#d7dde5;white-space:pre}
.b{font-weight:bold}.d{opacity:.65}.h{visibility:hidden}
${INKS.map((color, at) => `.c${at + 1}{fill:${color}}`).join("")}
.a{animation:${duration}ms step-end infinite}
#s${top.replace("}", ";animation-name:s}")}
@keyframes s{${scroll}}
${[...rules].map(([rule, name]) => `@keyframes ${name}${rule}`).join("\n")}
@media (prefers-reduced-motion:reduce){.a{animation:none}}
</style>
<rect width="${width}" height="${height}" rx="8" fill="#161b22"/>
<clipPath id="c"><rect width="${width}" height="${rows * CELL.height}"/></clipPath>
<g transform="translate(${MARGIN} ${MARGIN})" clip-path="url(#c)">
<g id="s" class="a">
${drawn.join("\n")}
</g>
</g>
</svg>
`;
}

/** Characters of one look are drawn together. A Chinese character takes two columns; the second has no width. */
function drawLine(line: IBufferLine, columns: number): string {
	let drawing = "";
	for (let column = 0; column < columns; ) {
		const start = column;
		const look = lookOf(line.getCell(column));
		let text = "";
		while (column < columns && lookOf(line.getCell(column)) === look) {
			const cell = line.getCell(column);
			text += cell?.getChars() || " ";
			column += cell?.getWidth() || 1;
		}
		const spaces = text.length - text.trimStart().length;
		const [x, width] = [start + spaces, column - start - (text.length - text.trim().length)];
		if (width > 0) {
			// Its length is fixed: fonts differ in theirs.
			const place = `x="${round(x * CELL.width)}" textLength="${round(width * CELL.width)}"`;
			drawing += `<tspan ${place}${look}>${escapeText(text.trim())}</tspan>`;
		}
	}
	return drawing;
}

function lookOf(cell: IBufferCell | undefined): string {
	const ink = cell?.isFgPalette() ? cell.getFgColor() % 8 : 0;
	const looks = [ink > 0 && `c${ink}`, cell?.isBold() && "b", cell?.isDim() && "d"].filter(Boolean);
	return looks.length === 0 ? "" : ` class="${looks.join(" ")}"`;
}

function round(value: number): number {
	return Math.round(value * 100) / 100;
}

function escapeText(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
