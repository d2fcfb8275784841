import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import sax from "sax";
import { drawSvg } from "../../../scripts/recording/draw-svg.js";

const RECORDING = new URL("../../../docs/images/first-minute.svg", import.meta.url);

const DRAWING = { columns: 12, rows: 3, last: 700, title: "A & B" };

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

describe("the drawing of a recording", () => {
	it("has each line as it was for a while, in its colours, and stands still at its end without motion", async () => {
		// Text is typed, coloured and replaced, and the first line leaves a screen of three.
		const svg = await drawSvg(
			[
				{ at: 0, text: "$ " },
				{ at: 100, text: "a" },
				{ at: 200, text: "\r\x1b[2C\x1b[32m<b>\x1b[39m & c\r\n" },
				{ at: 300, text: "two\r\nthree\r\nfour" },
			],
			DRAWING,
		);
		assert.deepEqual(textOf(svg), ["$", "$ a", "$<b>& c", "two", "three", "four"]);
		assert.match(svg, /<tspan x="16.8" textLength="25.2" class="c2">&lt;b&gt;<\/tspan>/);
		assert.match(svg, /class="a h" style="animation-name:t1">.*\$ a</);
		assert.match(svg, /@keyframes t1\{0%\{visibility:hidden\}10%\{visibility:visible\}20%\{visibility:hidden\}\}/);
		assert.match(svg, /class="a" style="animation-name:t3">.*two/);
		assert.match(svg, /prefers-reduced-motion:reduce\)\{\.a\{animation:none\}/);
		assert.match(svg, /@keyframes s\{0%\{transform:translateY\(0px\)\}30%\{transform:translateY\(-19px\)\}\}/);
	});

	it("in docs/images loads nothing from elsewhere", () => {
		const svg = readFileSync(RECORDING, "utf8");
		assert.ok(textOf(svg).includes("$ npm start"));
		assert.doesNotMatch(svg.replace('xmlns="http://www.w3.org/2000/svg"', ""), /href|url\((?!#)|@import|<script/);
	});
});
