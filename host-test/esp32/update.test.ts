// Updates over the air on an ESP32-C3 in Espressif's QEMU: flash, bootloader and rollback are ESP-IDF's. Run by npm run test:esp32.
import assert from "node:assert/strict";
import { it } from "node:test";
import getPort from "get-port";
import { buildForQemu, findQemuTools, type QemuTools } from "../../scripts/moddable/qemu.js";
import { makeKey, signImage, updateKeyOf } from "../../scripts/update/signing.js";
import { startDevice } from "./device.js";

/** The images know these ports. */
const BACKEND_PORT = 28_766;
const IMAGES_PORT = 28_767;
/** What the images are signed as. */
const VERSION = "9.9.9";
/** Where nobody listens: firmware with this backend never reaches a session. */
const CLOSED_PORT = 1;

const tools = findQemuTools();

it("an ESP32-C3 in QEMU updates itself, rejects what is wrong, and goes back from firmware that does not reach its backend", {
	skip: typeof tools === "string" && tools,
}, async (t) => {
	const key = makeKey();
	const settings = ["updateTrial=20", `updateKey=${updateKeyOf(key)}`];
	const ports = [await getPort({ port: BACKEND_PORT }), await getPort({ port: IMAGES_PORT })] as const;
	const unreachable = (await buildForQemu(tools as QemuTools, CLOSED_PORT, settings)).firmware;
	const image = await buildForQemu(tools as QemuTools, ports[0], settings);
	const { firmware } = image;

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
	const device = await startDevice(t, { image, backendPort: ports[0], images, imagesPort: ports[1] });
	const { nextSession, partition } = device;
	const update = (name: string, signature = signImage(images.get(name) as Buffer, VERSION, key)) =>
		device.update(name, { version: VERSION, signature });

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
