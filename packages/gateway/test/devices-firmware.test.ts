import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { listen, until } from "../../../host-test/support/testing.js";
import { sendFirmware } from "../src/devices/firmware/firmware-route.js";
import { BOARD, bootstrap, systemInfo } from "../testing/bootstrap.js";
import { makeFirmwareFolder, makeStateFolder, startProgram } from "../testing/program.js";

const MODEL = "bread-compact-wifi";

async function start(t: TestContext, files: Readonly<Record<string, string>>, flags: object = { bootstrap: "open" }) {
	const firmwareFolder = makeFirmwareFolder(files);
	return { ...(await startProgram(t, { firmwareFolder, ...flags })), firmwareFolder };
}

describe("firmware for devices", () => {
	it("is offered to a device if it is newer, and can be downloaded", async (t) => {
		const started = await start(t, {
			[`${MODEL}_1.9.9.bin`]: "old",
			[`${MODEL}_1.10.0.bin`]: "the newest",
			[`${MODEL}-2_9.0.0.bin`]: "of another model",
			[`${MODEL}_beta.bin`]: "not a version",
		});
		const { firmware } = (await bootstrap(started, BOARD)).body;
		assert.equal(firmware.version, "1.10.0");
		assert.ok(firmware.url.startsWith(`${started.base}/xiaozhi/ota/download/${MODEL}_1.10.0.bin?`));
		const response = await fetch(firmware.url);
		assert.deepEqual([response.status, response.headers.get("content-length")], [200, "10"]);
		assert.equal(response.headers.get("content-type"), "application/octet-stream");
		assert.equal(await response.text(), "the newest");
	});

	it("is offered with its SHA-256, and with the signature beside it", async (t) => {
		const file = `${MODEL}_1.10.0.bin`;
		const offer = async (files: Readonly<Record<string, string>>) =>
			(await bootstrap(await start(t, files), BOARD)).body.firmware;
		const sha256 = createHash("sha256").update("the image").digest("hex");
		const unsigned = await offer({ [file]: "the image" });
		assert.deepEqual([unsigned.sha256, "signature" in unsigned], [sha256, false]);
		const signed = await offer({ [file]: "the image", [`${file}.sig`]: "abcd\n" });
		assert.deepEqual([signed.sha256, signed.signature], [sha256, "abcd"]);
	});

	it("is offered beside pipes and folders with such names, which are passed over", async (t) => {
		const started = await start(t, { [`${MODEL}_1.9.9.bin`]: "image" });
		const path = (name: string) => join(started.firmwareFolder, name);
		execFileSync("mkfifo", [path(`${MODEL}_2.0.0.bin`), path(`${MODEL}_1.9.9.bin.sig`), path("target")]);
		mkdirSync(path(`${MODEL}_3.0.0.bin`));
		const { firmware } = (await bootstrap(started, BOARD)).body;
		assert.deepEqual([firmware.version, "signature" in firmware], ["1.9.9", false]);
		assert.equal(await (await fetch(firmware.url)).text(), "image");
		// By a link it is found, but not opened.
		symlinkSync("target", path(`${MODEL}_4.0.0.bin`));
		assert.equal((await bootstrap(started, BOARD)).body.firmware, undefined);
	});

	it("is seen by the operator when it is offered, downloaded, confirmed or rolled back", async (t) => {
		const started = await start(t, { [`${MODEL}_1.10.0.bin`]: "image" });
		const ask = async (version: string) => (await bootstrap(started, BOARD, { body: systemInfo(BOARD, version) })).body;
		const steps = () => [...started.log().matchAll(/"step":"([a-z-]+)"/g)].map(([, step]) => step);
		const { firmware } = await ask("1.8.2");
		await ask("1.8.2");
		assert.deepEqual(steps(), ["offered"], "once");
		await (await fetch(firmware.url)).text();
		await until(() => steps().length === 2, "the download");
		await ask("1.8.2");
		assert.deepEqual(steps(), ["offered", "downloaded", "rolled-back"]);
		await ask("1.10.0");
		assert.deepEqual(steps().slice(3), ["confirmed"]);
		const metrics = await (await fetch(`${started.base}/metrics`)).text();
		assert.match(metrics, /xs_mcp_gateway_firmware_updates_total\{step="rolled-back"\} 1/);
		assert.ok(!started.log().includes(new URL(firmware.url).searchParams.get("key") as string), "no key in the log");
	});

	it("has another SHA-256 when it has changed", async (t) => {
		const started = await start(t, { [`${MODEL}_1.10.0.bin`]: "first" });
		const digest = async (): Promise<string> => (await bootstrap(started, BOARD)).body.firmware.sha256;
		const before = await digest();
		assert.equal(await digest(), before);
		writeFileSync(join(started.firmwareFolder, `${MODEL}_1.10.0.bin`), "second, longer");
		assert.equal(await digest(), createHash("sha256").update("second, longer").digest("hex"));
	});

	it("is not offered to a device that has it, or is not bound, or is of another model", async (t) => {
		const started = await start(t, { [`${MODEL}_1.10.0.bin`]: "x" });
		for (const body of [
			systemInfo(BOARD, "1.10.0"),
			systemInfo(BOARD, "2.0"),
			{ board: { type: "another" }, application: { version: "1.0.0" } },
			{ board: { type: "./bread" }, application: { version: "1.0.0" } },
		]) {
			const answer = (await bootstrap(started, BOARD, { body })).body;
			assert.deepEqual([typeof answer.websocket, answer.firmware], ["object", undefined], JSON.stringify(body));
		}
		const closed = await start(t, { [`${MODEL}_1.10.0.bin`]: "x" }, { bootstrap: "approve" });
		const waiting = (await bootstrap(closed, BOARD)).body;
		assert.deepEqual([typeof waiting.activation, waiting.firmware], ["object", undefined]);
	});

	it("is given to nobody who was not offered it", async (t) => {
		const files = { [`${MODEL}_1.10.0.bin`]: "x", [`${MODEL}_2.0.0.bin`]: "y" };
		const started = await start(t, files);
		const { url } = (await bootstrap(started, BOARD)).body.firmware;
		const { search } = new URL(url);
		const download = `${started.base}/xiaozhi/ota/download`;
		for (const wrong of [
			`${download}/${MODEL}_2.0.0.bin`,
			`${download}/${MODEL}_2.0.0.bin?key=0`,
			`${download}/${MODEL}_1.10.0.bin${search}`,
			`${download}/..%2Ffirmware%2F${MODEL}_2.0.0.bin${search}`,
		]) {
			assert.equal((await fetch(wrong)).status, 404, wrong);
		}
	});
});

/** More than the buffers of both sides of a connection hold. */
const LARGE = 64 * 1024 * 1024;

it("a device that takes nothing of its firmware is disconnected, so that others can download", {}, async (t) => {
	const image = await open(join(makeStateFolder(), "image.bin"), "w+");
	t.after(() => image.close());
	await image.truncate(LARGE);
	const server = createServer();
	const device = connect(await listen(t, server), "127.0.0.1").pause();
	device.write("GET / HTTP/1.1\r\nHost: gateway\r\n\r\n");
	const [, response] = await once(server, "request");
	await sendFirmware(image, response, 50);
	assert.equal(response.writableFinished, false);
	device.destroy();
});

it("a folder of firmware that does not exist is reported at the start", async (t) => {
	const start = startProgram(t, { firmwareFolder: "/no/such/folder" });
	await assert.rejects(start, { name: "ConfigurationError", message: /^firmwareFolder: ENOENT.*\/no\/such\/folder/ });
});
