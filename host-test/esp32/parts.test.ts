// Parts on pins of an ESP32-C3 in QEMU: effects of calls on the chip's registers. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "../support/testing.js";
import { startInSession } from "./device.js";
import { buildForQemu, findQemuTools, type QemuImage, type QemuTools } from "./qemu.js";

const FIRMWARE = fileURLToPath(new URL("../fixtures/manifest_parts.json", import.meta.url));

/** Registers with a bit for each pin: the level that it puts out, and whether it puts one out (ESP32-C3's manual, §5.14). */
const GPIO_OUT = 0x6000_4004;
const GPIO_ENABLE = 0x6000_4020;
const PUMP = 1 << 5;

/** Seconds for which the relay stays on: more than one, the resolution of its timer. */
const SECONDS = 2;

/** The converter in a QEMU that lets its channels be set. */
const CONVERTER = "/machine/saradc";
const SOIL = "adc3";

const tools = findQemuTools();

describe("parts on an ESP32-C3 in QEMU", { skip: typeof tools === "string" && tools }, () => {
	let image: QemuImage;

	before(async () => {
		image = await buildForQemu(tools as QemuTools, [], FIRMWARE);
	});

	it("a relay's pin is high while it is on", async (t) => {
		const device = await startInSession(t, { image });
		const isHigh = async (): Promise<boolean> => ((await device.readWord(GPIO_OUT)) & PUMP) !== 0;
		assert.ok((await device.readWord(GPIO_ENABLE)) & PUMP, "the pin is an output");
		assert.equal(await isHigh(), false);
		const turn = async (on: boolean, seconds?: number): Promise<void> => {
			const { result } = await device.call("self.switch.set", { name: "pump", on, ...(seconds && { seconds }) });
			assert.equal(JSON.parse(result.content[0].text).on, on, JSON.stringify(result));
			assert.equal(await isHigh(), on);
		};
		await turn(true, SECONDS);
		await until(async () => !(await isHigh()), "the relay switches itself off");
		await turn(true);
		await turn(false);
	});

	it("an analog pin is read through its calibration", async (t) => {
		const device = await startInSession(t, { image });
		const soil = async () => {
			const { result } = await device.call("self.sensor.read", { sensor: "soil" });
			return JSON.parse(result.content[0].text).soil;
		};
		assert.deepEqual(await soil(), { kind: "moisture", value: 100, unit: "%" });
		for (const [reading, percent] of [
			[2_500, 50],
			[3_700, 10],
		] as const) {
			try {
				await device.setProperty(CONVERTER, SOIL, reading);
			} catch (error) {
				t.skip(`the converter always reads 0 in this QEMU (host-test/esp32/README.md): ${error}`);
				return;
			}
			const { value } = await soil();
			assert.ok(Math.abs(value - percent) < 1, `${reading} is ${value} %`);
		}
	});
});
