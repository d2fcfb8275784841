import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import * as parts from "../../src/parts/index.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The sources of parts whose options are an interface of their own, by the functions that make them. */
const FILES: Readonly<Record<string, readonly [file: string, options: string]>> = {
	relay: ["relay", "RelayOptions"],
	pwm: ["pwm", "PwmOptions"],
	neopixel: ["neopixel", "NeoPixelOptions"],
	servo: ["servo", "ServoOptions"],
	serial: ["serial", "SerialOptions"],
	contact: ["contact", "ContactOptions"],
	analog: ["analog", "AnalogOptions"],
	counter: ["counter", "CounterOptions"],
	button: ["button", "ButtonOptions"],
};

function membersOf(file: string, name: string): string[] {
	const source = readFileSync(`${ROOT}src/parts/${file}.ts`, "utf8");
	const [, body = ""] = new RegExp(`interface ${name}[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(source) ?? [];
	return [...body.matchAll(/^\treadonly (\w+)\??:/gm)].map(([, member]) => member as string);
}

it("docs/parts.md has each function for parts, with the options of its source", () => {
	const text = readFileSync(`${ROOT}docs/parts.md`, "utf8");
	const [, table = ""] = /^\| part \| of \| tool \|\n\|.*\n((?:\|.*\n)+)/m.exec(text) ?? [];
	const rows = new Map(
		[...table.matchAll(/^\| (.+?) \| (.+?) \|/gm)].flatMap(([, names = "", options = ""]) =>
			[...names.matchAll(/`(\w+)`/g)].map(([, name]) => [name as string, options] as const),
		),
	);
	const isPart = (name: string): boolean =>
		/^[a-z]/.test(name) && name !== "device" && name in { ...FILES, motion: 0, sensor: 0 };
	assert.deepEqual([...rows.keys()].sort(), Object.keys(parts).filter(isPart).sort());
	for (const [name, [file, options]] of Object.entries(FILES)) {
		const listed = [...(rows.get(name) ?? "").matchAll(/`(\w+)`/g)].map(([, option]) => option);
		assert.deepEqual(listed.sort(), membersOf(file, options).sort(), name);
	}
	const sensor = membersOf("polled-sensor", "SensorOptions");
	for (const option of [...sensor, "title"]) {
		assert.match(text, new RegExp(`\`${option}\``), option);
	}
});
