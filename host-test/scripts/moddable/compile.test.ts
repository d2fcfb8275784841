import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { prepareFolder, shortenScripts } from "../../../scripts/moddable/compile.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

describe("the folder of a build", () => {
	it("keeps what this version of the project has made, and loses what another one has", () => {
		const folder = join(temporaryFolder(), "build");
		prepareFolder(folder, []);
		writeFileSync(join(folder, "client.xsb"), "");
		prepareFolder(folder, []);
		assert.ok(existsSync(join(folder, "client.xsb")));
		writeFileSync(join(folder, "transformation"), "another");
		prepareFolder(folder, []);
		assert.ok(!existsSync(join(folder, "client.xsb")));
	});

	it("is linked again for another manifest, whose resources may all be older than what was linked", () => {
		const folder = join(temporaryFolder(), "build");
		prepareFolder(folder, ["face", "glyphs=ja"]);
		writeFileSync(join(folder, "mc.resources.c"), "");
		prepareFolder(folder, ["face", "glyphs=ja"]);
		assert.ok(existsSync(join(folder, "mc.resources.c")));
		prepareFolder(folder, ["face", "glyphs=latin"]);
		assert.ok(!existsSync(join(folder, "mc.resources.c")));
	});

	it("has shortened copies of the SDK's scripts", () => {
		const folder = temporaryFolder();
		const script = join(folder, "client.js");
		writeFileSync(script, "export class Client { #state; read() { return this.#state; } }\n");
		mkdirSync(join(folder, "build"));
		writeFileSync(join(folder, "build", "makefile"), `all:\n\txsc ${script} -o out\n`);
		const copies = shortenScripts(join(folder, "build"));
		assert.doesNotMatch(readFileSync(join(copies, script), "utf8"), /#state/);
	});
});
