import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { gzipSync } from "node:zlib";
import { bundleConsole } from "../../../toolchain/page-bundles.js";

/** Bytes that a browser loads at first, compressed. */
const MAX_BYTES = 150_000;

/** Bytes of the panel in chats, which is read as one resource. */
const MAX_PANEL_BYTES = 200_000;

it("the console is one script and one style sheet, small, and loads nothing from elsewhere", async () => {
	const folder = await bundleConsole();
	const names = readdirSync(folder);
	assert.deepEqual(names.map((name) => name.replace(/-[A-Z0-9]+\./, ".")).sort(), [
		"console.css",
		"console.js",
		"index.html",
		"panel.html",
	]);
	const panel = readFileSync(`${folder}/panel.html`);
	assert.ok(panel.length <= MAX_PANEL_BYTES, `the panel: ${panel.length} bytes`);
	assert.doesNotMatch(
		panel.toString().replaceAll(/http:\/\/www\.w3\.org\/[\w/]+/g, ""),
		/\b(?:src|href)="|url\(|@import/,
	);
	const files = names.filter((name) => name !== "panel.html").map((name) => readFileSync(`${folder}/${name}`));
	const bytes = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
	assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
	const page = readFileSync(`${folder}/index.html`, "utf8");
	for (const name of names.filter((each) => !each.endsWith(".html"))) {
		assert.ok(page.includes(`"console/${name}"`), name);
	}
	assert.doesNotMatch(page.replaceAll("http://www.w3.org/2000/svg", ""), /https?:/);
	assert.doesNotMatch(
		readFileSync(`${folder}/${names.find((name) => name.endsWith(".css"))}`, "utf8"),
		/url\(|@import/,
	);
});
