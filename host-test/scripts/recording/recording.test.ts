import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import sax from "sax";
import { drawSvg } from "../../../scripts/recording/draw-svg.js";
import { readLines } from "../../../scripts/recording/read-lines.js";
import { pace, recordTerminal } from "../../../scripts/recording/record-terminal.js";

const RECORDING = new URL("../../../docs/images/first-minute.svg", import.meta.url);

/** A shell's session: text is typed, coloured and replaced, and the first line leaves a screen of three. */
const CHUNKS = [
	{ at: 0, text: "$ " },
	{ at: 100, text: "a" },
	{ at: 200, text: "\r\x1b[2C\x1b[32m<b>\x1b[39m & c\r\n" },
	{ at: 300, text: "two\r\nthree\r\nfour" },
];

const SIZE = { columns: 12, rows: 3 };

/** The text of each line of a drawing. */
function textOf(svg: string): string[] {
	const lines: string[] = [];
	const xml = sax.parser(true);
	xml.onopentag = ({ name }) => name === "text" && lines.push("");
	xml.ontext = (text) => lines.length > 0 && text.trim() !== "" && lines.push(`${lines.pop()}${text}`);
	xml.onerror = (error) => assert.fail(error);
	xml.write(svg).close();
	return lines;
}

describe("the recording of a terminal", () => {
	it("has what was printed and typed, with a prompt at its end", async () => {
		const chunks = await recordTerminal({
			...SIZE,
			command: "env 'PS1=$ ' bash --norc --noprofile",
			typing: 1,
			reading: 1,
			steps: [
				{ prompt: "$ ", type: "stty size" },
				{ prompt: "$ ", type: "echo done" },
			],
			until: "$ ",
		});
		const { versions } = await readLines(chunks, SIZE.columns, 10);
		const last = versions
			.filter(({ to }) => to === undefined)
			.map(({ spans }) => spans.map(({ text }) => text).join(""));
		assert.deepEqual(last, ["$ stty size", "3 12", "$ echo done", "done", "$"]);
	});

	it("refuses a program that ends before everything was typed", async () => {
		const steps = [{ prompt: "# ", type: "never" }];
		const recorded = recordTerminal({ ...SIZE, command: "echo bye", typing: 1, reading: 1, steps, until: "" });
		await assert.rejects(recorded, /echo bye ended too early:\nbye/);
	});

	it("keeps nobody waiting, and leaves time to read", () => {
		const chunks = [
			{ at: 50, text: "a\nb\n" },
			{ at: 60, text: "c" },
			{ at: 9_000, text: "d" },
		];
		assert.deepEqual(
			pace(chunks, { longest: 1_000, line: 100 }).map(({ at }) => at),
			[50, 250, 1_250],
		);
	});
});

describe("the drawing of a recording", () => {
	it("has each line as it was for a while, in its colours", async () => {
		const { versions, tops } = await readLines(CHUNKS, SIZE.columns, SIZE.rows);
		assert.deepEqual(
			versions.map(({ line, from, to, spans }) => [line, from, to, spans.map(({ text }) => text).join("|")]),
			[
				[0, 0, 100, "$"],
				[0, 100, 200, "$ a"],
				[0, 200, undefined, "$|<b>|& c"],
				[1, 300, undefined, "two"],
				[2, 300, undefined, "three"],
				[3, 300, undefined, "four"],
			],
		);
		assert.deepEqual(versions[2]?.spans[1], {
			column: 2,
			width: 3,
			text: "<b>",
			ink: "green",
			bold: false,
			dim: false,
		});
		assert.deepEqual(tops, [
			{ at: 0, line: 0 },
			{ at: 300, line: 1 },
		]);
	});

	it("is an SVG that stands still at its end for those who prefer no motion", async () => {
		const svg = drawSvg(await readLines(CHUNKS, SIZE.columns, SIZE.rows), { ...SIZE, duration: 1_000, title: "A & B" });
		assert.deepEqual(textOf(svg), ["$", "$ a", "$<b>& c", "two", "three", "four"]);
		assert.match(svg, /prefers-reduced-motion:reduce\)\{\.a\{animation:none\}/);
		assert.match(
			svg,
			/\.t0\{visibility:hidden;.*\{0%\{visibility:hidden\}0%\{visibility:visible\}10%\{visibility:hidden\}/,
		);
		assert.match(svg, /@keyframes s\{0%\{transform:translateY\(0px\)\}30%\{transform:translateY\(-19px\)\}\}/);
	});

	it("in docs/images loads nothing from elsewhere", () => {
		const svg = readFileSync(RECORDING, "utf8");
		assert.ok(textOf(svg).includes("$ npm start"));
		assert.doesNotMatch(svg.replace('xmlns="http://www.w3.org/2000/svg"', ""), /href|url\((?!#)|@import|<script/);
	});
});
