import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { makeKey, signImage, updateKeyOf } from "xs-mcp/signing";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import { connectClient, nextOnline } from "xs-mcp-gateway/testing/gateway";
import { makeStateFolder, startProgram } from "xs-mcp-gateway/testing/program";
import { bundle, encodeImage } from "xs-mcp-virtual-device";
import { listen, until } from "../host-test/support/testing.js";
import { ENGINE, startDevice } from "./fixtures.js";

// Updates over the air, from the MCP client's call to the firmware that stays, or does not: client, gateway, device, and a
// server of images, all with real sockets.

const UNREACHABLE = fileURLToPath(new URL("../host-test/fixtures/unreachable.ts", import.meta.url));

const NEW = encodeImage(await bundle(undefined, false, "9.9.9"), { ...FIRMWARE, version: "9.9.9" });
/** One bit of the script is another one. */
const DAMAGED = Buffer.from(NEW);
DAMAGED[1_000] = (DAMAGED[1_000] as number) ^ 1;
const BROKEN = encodeImage('throw new Error("this firmware does not start")', { ...FIRMWARE, version: "9.9.9" });
const SHA256 = createHash("sha256").update(NEW).digest("hex");

async function serveImages(t: TestContext, images: Readonly<Record<string, Buffer>>): Promise<string> {
	const server = createServer((request, response) => {
		const name = request.url?.slice(1) ?? "";
		const image = images[name];
		if (image === undefined) {
			response.writeHead(404).end();
		} else if (name === "truncated.bin") {
			response.writeHead(200, { "Content-Length": image.byteLength });
			response.write(image.subarray(0, image.byteLength / 2), () => response.destroy());
		} else {
			response.writeHead(200, { "Content-Length": image.byteLength }).end(image);
		}
	});
	return `http://127.0.0.1:${await listen(t, server)}`;
}

async function connect(t: TestContext, images: Readonly<Record<string, Buffer>>, config: object = {}) {
	const { gateway, base } = await startProgram(t, { userTools: ["*"] });
	const online = nextOnline(gateway.servers);
	const backend = gateway.urls.websocket as string;
	const { log } = await startDevice(t, ENGINE, { config: { backend, ...config }, watchdog: true });
	const { alias } = await online;
	const client = await connectClient(t, new URL(`${base}/mcp/${alias}`), "2025-11-25");
	const call = async (name: string, args = {}, onprogress = (_: { progress: number }): void => {}) => {
		const { content, isError } = await client.callTool({ name, arguments: args }, { onprogress });
		return { text: (content[0] as { text: string }).text, isError };
	};
	return {
		log,
		images: await serveImages(t, images),
		update: (args: object, onprogress?: (each: { progress: number }) => void) =>
			call("self_upgrade_firmware", args, onprogress),
		version: async (): Promise<string> =>
			JSON.parse((await call("self_get_system_info")).text).application.version as string,
		logged: (line: string) => until(() => log.includes(line), line),
	};
}

describe(`updates of a virtual device, firmware on ${ENGINE.kind}`, () => {
	it("new firmware is downloaded, started, and confirmed in its first session; the client sees the progress", async (t) => {
		const { images, update, version, log, logged } = await connect(t, { "new.bin": NEW });
		const before = await version();
		const progress: { progress: number; total?: number }[] = [];
		const { text, isError } = await update({ url: `${images}/new.bin`, sha256: SHA256 }, (each) => progress.push(each));
		assert.deepEqual([text, isError], ["true", false]);
		assert.deepEqual(progress.at(-1), { progress: NEW.byteLength, total: NEW.byteLength });
		assert.ok(progress.length >= 10, `${progress.length} reports of progress`);
		await logged("firmware 9.9.9 is confirmed");
		assert.ok(log.includes("state idle -> upgrading"));
		await until(async () => (await version().catch(() => "")) === "9.9.9", "the new version");
		assert.notEqual(before, "9.9.9");
	});

	it("a damaged, truncated, unsigned or invalid image changes nothing, and the client gets the reason", async (t) => {
		const key = makeKey();
		const updateKey = updateKeyOf(key);
		const files = {
			"new.bin": NEW,
			"truncated.bin": NEW,
			"damaged.bin": DAMAGED,
			"page.bin": Buffer.from(`<html>${" ".repeat(200)}Not a firmware</html>`),
		};
		const { images, update, version, log } = await connect(t, files, { updateKey });
		const signature = signImage(NEW, "9.9.9", makeKey());
		const before = await version();
		for (const [args, problem] of [
			[{ url: "new.bin", signature, sha256: "0".repeat(64) }, /the image's SHA-256 is [0-9a-f]{64}, expected 0{64}/],
			[{ url: "new.bin", signature }, /invalid signature/],
			[{ url: "new.bin", signature: signImage(NEW, "9.9.8", key) }, /invalid signature: not signed as version 9\.9\.9/],
			[{ url: "new.bin" }, /signature required: .*new\.bin\.sig answered with HTTP status 404/],
			[{ url: "truncated.bin", signature }, /truncated\.bin: /],
			[{ url: "damaged.bin", signature: signImage(DAMAGED, "9.9.9", key) }, /image damaged: its checksum is wrong/],
			[{ url: "page.bin", signature }, /not a firmware image/],
			[{ url: "missing.bin", signature }, /answered with HTTP status 404/],
		] as const) {
			const { text, isError } = await update({ version: "9.9.9", ...args, url: `${images}/${args.url}` });
			assert.match(text, problem);
			assert.equal(isError, true);
		}
		assert.equal(await version(), before);
		assert.equal(log.filter((line) => line === "state upgrading -> idle").length, 8);
	});

	it("firmware that does not reach its backend is rolled back", async (t) => {
		const image = encodeImage(await bundle(UNREACHABLE, false, "9.9.9"), { ...FIRMWARE, version: "9.9.9" });
		const { images, update, version, log, logged } = await connect(t, { "new.bin": image }, { updateTrial: 1 });
		const before = await version();
		await update({ url: `${images}/new.bin` });
		await logged(`update failed: ${images}/new.bin did not reach its backend; rolled back to ${before}`);
		assert.ok(log.includes("firmware 9.9.9 is on trial: it has 1 s to reach its backend"));
		await until(async () => (await version().catch(() => "")) === before, "the version before");
	});

	it("firmware that does not even start is rolled back", async (t) => {
		const { images, update, version, logged } = await connect(t, { "broken.bin": BROKEN });
		const before = await version();
		await update({ url: `${images}/broken.bin` });
		await logged(`update failed: ${images}/broken.bin did not reach its backend; rolled back to ${before}`);
		await until(async () => (await version().catch(() => "")) === before, "the version before");
	});

	it("a device that asks the gateway for its backend is offered signed firmware, and installs it", async (t) => {
		const key = makeKey();
		const firmwareFolder = join(makeStateFolder(), "firmware");
		mkdirSync(firmwareFolder);
		writeFileSync(join(firmwareFolder, "virtual_9.9.9.bin"), NEW);
		writeFileSync(join(firmwareFolder, "virtual_9.9.9.bin.sig"), `${signImage(NEW, "9.9.9", key)}\n`);
		const { base } = await startProgram(t, { bootstrap: "open", firmwareFolder });
		const config = { otaUrl: `${base}/xiaozhi/ota/`, updateKey: updateKeyOf(key) };
		const { log } = await startDevice(t, ENGINE, { config, watchdog: true });
		await until(() => log.includes("firmware 9.9.9 is confirmed"), "the new firmware is confirmed");
		assert.equal(log.filter((line) => line.startsWith("firmware 9.9.9: installing")).length, 1);
	});
});
