import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { gzipSync } from "node:zlib";
import { bundleConsole } from "xs-mcp/build/page-bundles";

/** Bytes that a browser loads at first, compressed. */
const MAX_BYTES = 138_000;

/** Bytes of the panel in chats, which is read as one resource. */
const MAX_PANEL_BYTES = 200_000;

it("the console loads little at first, and nothing from elsewhere", async () => {
	const folder = await bundleConsole();
	const read = (name: string): string => readFileSync(`${folder}/${name}`, "utf8");
	const page = read("index.html");
	const named = Array.from(page.matchAll(/"console\/([^"]+)"/g), ([, name = ""]) => name);
	assert.deepEqual(named.map((name) => name.replace(/-[A-Z0-9]+\./, ".")).sort(), ["console.css", "console.js"]);
	const [script = "", style = ""] = [".js", ".css"].map((ending) => named.find((name) => name.endsWith(ending)));
	// Others are imported when a view needs them.
	const imported = Array.from(
		read(script).matchAll(/^import\s*\{[^}]*\}\s*from\s*"\.\/([^"]+)"/g),
		([, name = ""]) => name,
	);
	const files = ["index.html", ...named, ...imported];
	const bytes = files.reduce((sum, file) => sum + gzipSync(read(file), { level: 9 }).length, 0);
	assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
	const panel = read("panel.html");
	assert.ok(panel.length <= MAX_PANEL_BYTES, `the panel: ${panel.length} bytes`);
	assert.doesNotMatch(
		panel.replaceAll(/http:\/\/www\.w3\.org\/[\w/]+/g, ""),
		/\b(?:src|href)="|url\((?!"?data:)|@import/,
	);
	assert.doesNotMatch(page.replaceAll("http://www.w3.org/2000/svg", ""), /https?:/);
	assert.doesNotMatch(read(style), /url\((?!"?data:)|@import/);
});
