// What restarts an ESP32-C3 in QEMU, and takes back firmware that fails before it can watch itself. Run by npm run test:esp32.
import assert from "node:assert/strict";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import getPort from "get-port";
import { buildForQemu, findQemuTools, type QemuImage, type QemuTools } from "../../scripts/moddable/qemu.js";
import { startDevice } from "./device.js";

const FAULTY = fileURLToPath(new URL("../faulty-firmware", import.meta.url));

/** Never returns, and ends by an exception that nobody catches or by a bad memory access. */
const FAULTS = ["loop", "throw", "panic"] as const;

/** Seconds for new firmware to reach its backend: much more than the watchdog's 30. */
const TRIAL = 900;

const tools = findQemuTools();

/** Firmware that fails on demand, or with a fault at its start. */
async function build(port: number, fault?: (typeof FAULTS)[number]): Promise<QemuImage> {
	const settings = [`updateTrial=${TRIAL}`, ...(fault === undefined ? [] : [`fault=${fault}`])];
	return await buildForQemu(tools as QemuTools, port, settings, FAULTY);
}

it("an ESP32-C3 in QEMU restarts when a tool never returns, throws out of a timer or panics", {
	skip: typeof tools === "string" && tools,
}, async (t) => {
	const [backendPort, imagesPort] = [await getPort(), await getPort()];
	const device = await startDevice(t, { image: await build(backendPort), backendPort, imagesPort });
	await device.nextSession();
	for (const fault of FAULTS) {
		device.fail("self.test.fail", { fault });
		await device.nextSession();
		t.diagnostic(`restarted after ${fault}`);
	}
});

it("an ESP32-C3 in QEMU goes back from firmware that never gets through its start", {
	skip: typeof tools === "string" && tools,
}, async (t) => {
	const [backendPort, imagesPort] = [await getPort(), await getPort()];
	const images = new Map<string, Buffer>();
	for (const fault of ["loop", "panic"] as const) {
		images.set(fault, (await build(backendPort, fault)).firmware);
	}
	const device = await startDevice(t, { image: await build(backendPort), backendPort, images, imagesPort });
	await device.nextSession();
	for (const fault of images.keys()) {
		assert.equal((await device.update(fault)).result.isError, false);
		await device.nextSession();
		assert.equal(await device.partition(), "ota_0", fault);
	}
});
