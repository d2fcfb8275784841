import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { it, type TestContext } from "node:test";
import { temporaryFolder, until } from "../../../host-test/support/testing.js";
import { bundle, chooseEngine, VirtualDevice } from "../src/index.js";
import { describePin, type PinState } from "../src/services/pins.js";

// Use of the SDK's classes for pins, as by a tool.

const FIRMWARE = `
import Digital from "embedded:io/digital";
import Analog from "embedded:io/analog";
import SMBus from "embedded:io/smbus";
import NeoPixel from "neopixel";
const lamp = new Digital({ pin: 2, mode: Digital.Output, initialValue: 1 });
const key = new Digital({
	pin: 4, mode: Digital.InputPullUp, edge: Digital.Rising | Digital.Falling,
	onReadable() { lamp.write(this.read()); trace("key " + this.read() + " voltage " + voltage.read() + "\\n"); },
});
const voltage = new Analog({ pin: 34 });
const strip = new NeoPixel({ pin: 8, length: 100 });
strip.setPixel(1, strip.makeRGB(255, 128, 0));
strip.update();
const clock = new SMBus({ address: 0x50, data: 21, clock: 22 });
clock.writeUint8(0x10, 0x59);
trace("read " + clock.readUint8(0x10) + " " + clock.readUint16(0x0f, true) + "\\n");
for (const wrong of [{ pin: 2, mode: Digital.Output }, { pin: 99, mode: Digital.Input }, { pin: 5, mode: 77 }]) {
	try { new Digital(wrong); } catch (error) { trace(error.message + "\\n"); }
}
`;

async function start(t: TestContext, firmware: string): Promise<VirtualDevice> {
	const file = `${temporaryFolder()}/main.ts`;
	writeFileSync(file, firmware);
	const engine = await chooseEngine("v8");
	const device = new VirtualDevice({
		firmware: await bundle(file),
		startEngine: (onTrace) => engine.start({ onTrace }),
		config: {},
		name: "shelf",
	});
	t.after(() => device.stop());
	return device;
}

it("a virtual device notes once that a strip of LEDs is off", async (t) => {
	const device = await start(
		t,
		`import NeoPixel from "neopixel"; const strip = new NeoPixel({ pin: 8, length: 3 }); strip.update();`,
	);
	const notes: string[] = [];
	device.on("note", (text) => void notes.push(text));
	await device.start();
	assert.deepEqual(notes, ["pin 8 is off"]);
});

it("a virtual device has the name of its command line while its settings have none", async (t) => {
	const device = await start(t, "");
	assert.equal(device.name, "shelf");
	device.flash("", { config: { name: "Kitchen" } });
	assert.equal(device.name, "Kitchen");
});

it("code on a virtual device uses the SDK's classes of ECMA-419 for pins and buses", async (t) => {
	const device = await start(t, FIRMWARE);
	const lines: string[] = [];
	device.on("trace", (line) => void lines.push(line));
	await device.start();
	assert.deepEqual(lines, ["read 89 89", "pin 2 is in use", "pin 99: expected a number from 0 to 54", "invalid mode"]);
	const strip = device.pins.find(({ pin }) => pin === 8);
	assert.deepEqual(strip?.value, { colors: [0, 0xff8000, ...new Array(62).fill(0)], length: 100, brightness: 25 });
	assert.equal(describePin(strip as PinState), "on: 25 % of 2 colors");
	device.setPin(34, 1_000);
	device.setPin(4, 0);
	await until(() => device.pins.find(({ pin }) => pin === 2)?.value === 0, "the lamp is off");
	assert.equal(lines.at(-1), "key 0 voltage 1000");
	device.setPin(4, 0);
	device.setPin(4, 1);
	await until(() => lines.at(-1) === "key 1 voltage 1000", "the lamp is on");
	assert.equal(lines.length, 6);
	device.setChip(0x50, { 16: 7 });
	assert.throws(() => device.setChip(0x50, { temperature: 7 }), /80\.temperature: expected numbers of registers/);
	assert.deepEqual(device.chips[0]?.values["16"], 7);
});
