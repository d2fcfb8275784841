import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { strFromU8, unzipSync } from "fflate";
import { writeChecksums, zipFolder } from "xs-mcp/release";
import { ROOT } from "xs-mcp/root";
import { typeScript } from "../host-test/support/program.js";
import { temporaryFolder } from "../host-test/support/testing.js";

describe("a release", () => {
	it("names the missing tools of an image before all else", () => {
		const { MODDABLE, IDF_PATH, ...env } = process.env;
		const { status, stdout, stderr } = spawnSync(
			process.execPath,
			typeScript("tools/release-cli.ts", "--target", "esp32"),
			{ cwd: ROOT, env, encoding: "utf8" },
		);
		assert.equal(status, 1, stderr);
		assert.match(stdout, /^missing +Moddable SDK: MODDABLE is not set/m);
		assert.match(stdout, /^missing +ESP-IDF: IDF_PATH is not set/m);
		assert.match(stderr, /doctor -- --for build failed/);
	});

	it("has checksums that sha256sum accepts", (_t) => {
		const folder = temporaryFolder("xs-mcp-release-");
		writeFileSync(join(folder, "b.tgz"), "b");
		writeFileSync(join(folder, "a.bin"), "a");
		assert.deepEqual(writeChecksums(folder), ["a.bin", "b.tgz"]);
		assert.deepEqual(writeChecksums(folder), ["a.bin", "b.tgz"]);
		execFileSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: folder, stdio: "ignore" });
	});
});

it("puts the images of boards into one file, with their manifests", () => {
	const folder = temporaryFolder();
	mkdirSync(join(folder, "esp32c3"));
	writeFileSync(join(folder, "SHA256SUMS"), "sums");
	writeFileSync(join(folder, "esp32c3", "manifest.json"), "{}");
	const files = unzipSync(zipFolder(folder));
	assert.deepEqual(Object.keys(files).sort(), ["SHA256SUMS", "esp32c3/manifest.json"]);
	assert.equal(strFromU8(files["esp32c3/manifest.json"] ?? new Uint8Array()), "{}");
});
