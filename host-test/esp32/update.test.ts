// Updates over the air on an ESP32-C3 in Espressif's QEMU: flash, bootloader and rollback are ESP-IDF's. Run by npm run test:esp32.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import getPort from "get-port";
import { buildForQemu, findQemuTools, Qemu, type QemuTools } from "../../scripts/moddable/qemu.js";
import { makeKey, signImage, updateKeyOf } from "../../scripts/update/signing.js";
import { RawBackend } from "../e2e/fixtures.js";

/** The images know these ports. */
const BACKEND_PORT = 28_766;
const IMAGES_PORT = 28_767;
/** What the images are signed as. */
const VERSION = "9.9.9";
/** Where nobody listens: firmware with this backend never reaches a session. */
const CLOSED_PORT = 1;

const tools = findQemuTools();

it("an ESP32-C3 in QEMU updates itself, rejects invalid images, and rolls back firmware that does not reach its backend", {
	skip: typeof tools === "string" && tools,
}, async (t) => {
	const key = makeKey();
	const settings = ["updateTrial=20", `updateKey=${updateKeyOf(key)}`];
	const ports = [await getPort({ port: BACKEND_PORT }), await getPort({ port: IMAGES_PORT })] as const;
	const unreachable = (await buildForQemu(tools as QemuTools, CLOSED_PORT, settings)).firmware;
	const { firmware, ...image } = await buildForQemu(tools as QemuTools, ports[0], settings);

	const damaged = Buffer.from(firmware);
	damaged.writeUInt8(damaged.readUInt8(900_000) ^ 1, 900_000);
	const otherChip = Buffer.from(firmware);
	otherChip.writeUInt8(9, 12);
	const images = new Map([
		["good", firmware],
		["unreachable", unreachable],
		["damaged", damaged],
		["other-chip", otherChip],
		["cut-off", firmware.subarray(0, 700_000)],
		["page", Buffer.from(`<html>${"x".repeat(100)}</html>`)],
	]);
	const server = createServer((request, response) => {
		const body = images.get(request.url?.slice(1) ?? "");
		response.writeHead(body === undefined ? 404 : 200, { "Content-Length": body?.byteLength ?? 0 }).end(body);
	}).listen(ports[1], "127.0.0.1");
	t.after(() => server.close());

	const backend = await RawBackend.listen(t, ports[0]);
	const folder = mkdtempSync(join(tmpdir(), "xs-mcp-qemu-"));
	const qemu = new Qemu({ ...image, firmware }, join(folder, "flash.bin"), (reason) => t.diagnostic(String(reason)));
	t.after(async () => {
		await qemu.stop();
		rmSync(folder, { recursive: true });
	});
	/** Waits for the next session: what the device said before it restarted may still be unread. */
	const nextSession = async (): Promise<void> => {
		while (JSON.parse(await backend.hear()).type !== "hello") {}
		backend.say({ type: "hello", transport: "websocket", session_id: "s", audio_params: {} });
	};
	const call = async (name: string, args = {}) => {
		const params = { name, arguments: args, _meta: { progressToken: "p" } };
		return await backend.ask({ id: 1, method: "tools/call", params });
	};
	const update = (name: string, signature = signImage(images.get(name) as Buffer, VERSION, key)) =>
		call("self.upgrade_firmware", { url: `http://10.0.2.2:${ports[1]}/${name}`, version: VERSION, signature });
	const partition = async (): Promise<string> =>
		JSON.parse((await call("self.get_system_info")).result.content[0].text).ota.label;

	await nextSession();
	assert.equal(await partition(), "ota_0");
	for (const [name, problem] of [
		["page", /not a firmware image/],
		["other-chip", /the image is for esp32s3, but this chip is an esp32c3/],
		["cut-off", /image damaged or truncated/],
		["damaged", /image damaged or truncated/],
	] as const) {
		assert.match((await update(name)).error.message, problem);
	}
	assert.match((await update("good", signImage(firmware, VERSION, makeKey()))).error.message, /invalid signature/);

	assert.equal((await update("good")).result.isError, false);
	await nextSession();
	assert.equal(await partition(), "ota_1");

	// That it takes another update shows that it was confirmed.
	assert.equal((await update("unreachable")).result.isError, false);
	await nextSession();
	assert.equal(await partition(), "ota_1");
});
