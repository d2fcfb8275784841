import type { Ink, LineVersion, ShownLines, Span } from "./read-lines.js";

interface Drawing {
	readonly columns: number;
	readonly rows: number;
	/** Milliseconds after which it starts again. */
	readonly duration: number;
	/** For those who cannot see it. */
	readonly title: string;
}

/** Sizes in pixels. */
const CELL = { width: 8.4, height: 19 };
const FONT_SIZE = 14;
const MARGIN = 16;

const COLORS: Record<NonNullable<Ink> | "paper" | "text", string> = {
	paper: "#161b22",
	text: "#d7dde5",
	red: "#ff8278",
	green: "#7ee787",
	yellow: "#e3b341",
	blue: "#79c0ff",
	magenta: "#d2a8ff",
	cyan: "#76e3ea",
};

const FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";

/**
 * Draws a recording as an SVG that moves by itself and loads nothing. Whoever prefers no motion sees its end.
 */
export function drawSvg({ versions, tops }: ShownLines, drawing: Drawing): string {
	const { columns, rows, duration, title } = drawing;
	const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
	const height = rows * CELL.height + 2 * MARGIN;
	const moments = new Moments(duration);
	const lines = versions.map((version) => drawLine(version, moments));
	const scroll = tops.map(({ at, line }) => `${percent(at, duration)}{transform:${lift(line)}}`).join("");
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeText(title)}</title>
<style>
text{font:${FONT_SIZE}px ${FONTS};fill:${COLORS.text};white-space:pre}
.b{font-weight:bold}.d{opacity:.65}
${Object.entries(COLORS)
	.filter(([name]) => name !== "paper" && name !== "text")
	.map(([name, color]) => `.${name}{fill:${color}}`)
	.join("")}
.a{animation:${duration}ms step-end infinite}
#s{transform:${lift(tops.at(-1)?.line ?? 0)};animation-name:s}
@keyframes s{${scroll}}
${moments.rules()}
@media (prefers-reduced-motion:reduce){.a{animation:none}}
</style>
<rect width="${width}" height="${height}" rx="8" fill="${COLORS.paper}"/>
<clipPath id="c"><rect width="${width}" height="${rows * CELL.height}"/></clipPath>
<g transform="translate(${MARGIN} ${MARGIN})" clip-path="url(#c)">
<g id="s" class="a">
${lines.join("\n")}
</g>
</g>
</svg>
`;
}

/** When something is shown: a rule of its own for each pair of times. */
class Moments {
	readonly #names = new Map<string, string>();
	readonly #duration: number;

	constructor(duration: number) {
		this.#duration = duration;
	}

	nameOf({ from, to }: LineVersion): string {
		const key = `${percent(from, this.#duration)} ${to === undefined ? "" : percent(to, this.#duration)}`;
		const name = this.#names.get(key) ?? `t${this.#names.size}`;
		this.#names.set(key, name);
		return name;
	}

	rules(): string {
		return [...this.#names]
			.map(([key, name]) => {
				const [from, to] = key.split(" ");
				const end = to === "" ? "" : `${to}{visibility:hidden}`;
				const still = to === "" ? "" : "visibility:hidden;";
				return `.${name}{${still}animation-name:${name}}@keyframes ${name}{0%{visibility:hidden}${from}{visibility:visible}${end}}`;
			})
			.join("\n");
	}
}

function drawLine(version: LineVersion, moments: Moments): string {
	const y = version.line * CELL.height + FONT_SIZE;
	return `<text y="${y}" class="a ${moments.nameOf(version)}">${version.spans.map(drawSpan).join("")}</text>`;
}

/** Its length is fixed: fonts differ in theirs. */
function drawSpan({ column, width, text, ink, bold, dim }: Span): string {
	const looks = [ink, bold && "b", dim && "d"].filter((each) => typeof each === "string").join(" ");
	const look = looks === "" ? "" : ` class="${looks}"`;
	return `<tspan x="${round(column * CELL.width)}" textLength="${round(width * CELL.width)}"${look}>${escapeText(text)}</tspan>`;
}

function lift(line: number): string {
	return `translateY(${-line * CELL.height}px)`;
}

function percent(at: number, duration: number): string {
	return `${round((100 * at) / duration)}%`;
}

function round(value: number): number {
	return Math.round(value * 100) / 100;
}

function escapeText(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
