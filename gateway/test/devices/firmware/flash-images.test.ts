import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { makeStateFolder, startProgram } from "../../support/program.js";

/** A folder with one image, as `npm run firmware` makes it. */
function makeImages(manifest: object | string = MANIFEST): string {
	const folder = makeStateFolder();
	const board = join(folder, "esp32c3");
	mkdirSync(board);
	writeFileSync(join(board, "manifest.json"), typeof manifest === "string" ? manifest : JSON.stringify(manifest));
	writeFileSync(join(board, "xs_esp32.bin"), "image");
	writeFileSync(join(board, "secret.txt"), "secret");
	return folder;
}

const MANIFEST = {
	name: "xs-mcp for esp32c3",
	version: "1.0.0",
	builds: [{ chipFamily: "ESP32-C3", parts: [{ path: "xs_esp32.bin", offset: 65_536 }] }],
};

async function start(t: TestContext, firmwareFolder: string) {
	const { base, tokens } = await startProgram(t, { firmwareFolder });
	const get = (path: string, token?: string): Promise<Response> =>
		fetch(
			`${base}/console/firmware${path}`,
			token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } },
		);
	return { get, tokens };
}

describe("images to flash boards with", () => {
	it("are listed from their manifests, and sent", async (t) => {
		const { get } = await start(t, makeImages());
		assert.deepEqual(await (await get("")).json(), { images: [{ ...MANIFEST, board: "esp32c3" }] });
		assert.equal(await (await get("/esp32c3/xs_esp32.bin")).text(), "image");
	});

	it("are nothing but the files that a manifest names", async (t) => {
		const folder = makeImages();
		symlinkSync("/etc", join(folder, "etc"));
		const { get } = await start(t, folder);
		for (const path of [
			"/esp32c3/secret.txt",
			"/esp32c3/manifest.json",
			"/etc/passwd",
			"/esp32c3/..%2f..%2fetc%2fpasswd",
			"/%2e%2e/x",
		]) {
			assert.equal((await get(path)).status, 404, path);
		}
	});

	it("leave out manifests that are not valid, and those with paths or offsets outside of their folder and flash", async (t) => {
		const [build] = MANIFEST.builds;
		for (const manifest of [
			"no JSON",
			{ ...MANIFEST, builds: [] },
			{ ...MANIFEST, builds: [{ ...build, parts: [{ path: "../secret", offset: 0 }] }] },
			{ ...MANIFEST, builds: [{ ...build, parts: [{ path: "xs_esp32.bin", offset: -1 }] }] },
			`{"name":"${"x".repeat(70_000)}"}`,
		]) {
			const { get } = await start(t, makeImages(manifest));
			assert.deepEqual(await (await get("")).json(), { images: [] });
			assert.equal((await get("/esp32c3/xs_esp32.bin")).status, 404);
		}
	});

	it("are for operators alone: a secret may be built in", async (t) => {
		const { get, tokens } = await start(t, makeImages());
		const operator = await tokens.add({ name: "operator", kind: "client", operator: true });
		const guest = await tokens.add({ name: "guest", kind: "client" });
		assert.equal((await get("", guest)).status, 403);
		assert.equal((await get("/esp32c3/xs_esp32.bin", guest)).status, 403);
		assert.equal((await get("", operator)).status, 200);
	});
});
