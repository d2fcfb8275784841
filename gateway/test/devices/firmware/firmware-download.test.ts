import assert from "node:assert/strict";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { it } from "node:test";
import { listen } from "../../../../host-test/support/listen.js";
import { sendFirmware } from "../../../src/devices/firmware/firmware-download.js";
import { makeStateFolder } from "../../support/program.js";

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

it("a folder in place of firmware is an error", async (t) => {
	const folder = await open(makeStateFolder());
	t.after(() => folder.close());
	const server = createServer();
	const device = connect(await listen(t, server), "127.0.0.1").resume();
	device.write("GET / HTTP/1.1\r\nHost: gateway\r\n\r\n");
	const [, response] = await once(server, "request");
	await assert.rejects(sendFirmware(folder, response), { code: "EISDIR" });
	device.destroy();
});
