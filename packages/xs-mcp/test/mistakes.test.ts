import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, it } from "node:test";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { checkDevice } from "../src/build/check-board.js";
import { fromProject } from "../src/build/manifests.js";
import { readDevice } from "../src/build/read-device.js";
import { ROOT } from "../src/root.js";

/** Reads a project with these files, and resolves with the message of the error, without the folder's path. */
async function mistakeIn(files: Readonly<Record<string, string>>, preload: readonly string[] = []): Promise<string> {
	const folder = temporaryFolder();
	const include = [relative(folder, join(ROOT, "src/hardware/parts/manifest.json"))];
	const manifest = { include, modules: { device: "./device", "tools/*": "./tools/*" }, preload };
	mkdirSync(join(folder, "tools"));
	const written = { "manifest.json": JSON.stringify(manifest), "device.ts": deviceWith(""), ...files };
	for (const [name, text] of Object.entries(written)) {
		writeFileSync(join(folder, name), text);
	}
	const warnings = readDevice(fromProject(join(folder, "manifest.json")), "virtual").then(
		(device) => assert.fail(`nothing is wrong: ${device && checkDevice(device)}`),
		({ message }: Error) => message,
	);
	return (await warnings).replaceAll(`${relative(process.cwd(), folder)}/`, "");
}

const deviceWith = (
	parts: string,
	more = "",
): string => `import { analog, button, contact, device, neopixel, relay } from "xs-mcp";
export default device({
	parts: { ${parts} },${more}
});
`;

const toolWith = (members: string): string => `import { defineTool, integer } from "xs-mcp";
export default defineTool({
	name: "self.greet", description: "Greets.", run: () => true,
	${members}
});
`;

const RELAY = "title, pin, activeLow, maxOn, minOff, onSessionLost";
const ANALOG = "title, kind, unit, threshold, interval, pin, from, to";
const INTEGER = "title, description, default, minimum, maximum";

const ENDLESS = "device.ts: loading it does not end within 15 seconds: is a loop endless, or an await?";

const withSensor = (driver: string, options: string): string =>
	`import Driver from "embedded:sensor/${driver}";
import { device, sensor } from "xs-mcp";
export default device({ parts: { air: sensor(Driver, ${options}) } });
`;

const OF_DEVICES: readonly (readonly [mistake: string, text: string, message: string])[] = [
	[
		"an option with a small letter",
		deviceWith("pump: relay({ pin: 26, maxon: 30 })"),
		`device.ts: part pump: unknown option maxon, expected ${RELAY}; did you mean maxOn?`,
	],
	["an endless loop", `for (;;) {}\n${deviceWith("")}`, ENDLESS],
	["an endless await", `await new Promise(() => {});\n${deviceWith("")}`, ENDLESS],
	[
		"ESPHome's word of a relay",
		deviceWith("pump: relay({ pin: 26, inverted: true })"),
		`device.ts: part pump: unknown option inverted, expected ${RELAY}; inverted is ESPHome's: did you mean activeLow?`,
	],
	[
		"ESPHome's word of a button",
		deviceWith("bell: button({ pin: 26, inverted: true })"),
		"device.ts: part bell: unknown option inverted, expected pin, activeHigh, assistant; inverted is ESPHome's: did you mean activeHigh?",
	],
	[
		"ESPHome's platform",
		deviceWith('pump: relay({ platform: "gpio", pin: 26 })'),
		`device.ts: part pump: unknown option platform, expected ${RELAY}; platform is ESPHome's: the function says it, such as relay(…) or analog(…)`,
	],
	[
		"ESPHome's state after a restart",
		deviceWith('pump: relay({ pin: 26, restore_mode: "ALWAYS_OFF" })'),
		`device.ts: part pump: unknown option restore_mode, expected ${RELAY}; restore_mode is ESPHome's: outputs are off when the device starts`,
	],
	[
		"ESPHome's interval",
		deviceWith('soil: analog({ pin: 34, update_interval: "60s" })'),
		`device.ts: part soil: unknown option update_interval, expected ${ANALOG}; update_interval is ESPHome's: did you mean interval?`,
	],
	[
		"ESPHome's pin",
		deviceWith('pump: relay({ pin: "GPIO26" })'),
		'device.ts: part pump: pin: expected the number of a pin, got "GPIO26"; did you mean 26?',
	],
	[
		"ESPHome's time",
		deviceWith('pump: relay({ pin: 26, maxOn: "2min" })'),
		'device.ts: part pump: maxOn: expected a number from 0.1 to 86400 seconds, got "2min"; did you mean 120?',
	],
	[
		"ESPHome's milliseconds",
		deviceWith('door: contact({ pin: 26, debounce: "50ms" })'),
		'device.ts: part door: debounce: expected a number from 0 to 60000 milliseconds, got "50ms"; did you mean 50?',
	],
	[
		"ESPHome's number of LEDs",
		deviceWith("ring: neopixel({ pin: 4, num_leds: 8 })"),
		"device.ts: part ring: unknown option num_leds, expected title, pin, length, order; num_leds is ESPHome's: did you mean length?",
	],
	[
		"the pin of a sensor on a bus",
		withSensor("Humidity-Temperature/SHT3x", "{ pin: 21 }"),
		'device.ts: part air: bus: expected "default" or { data, clock }',
	],
	[
		"the bus of a sensor on a pin",
		withSensor("Humidity-Temperature/DHT", "{ bus: { data: 21, clock: 22 } }"),
		"device.ts: part air: pin: expected the number of the sensor's pin",
	],
	[
		"a text for true",
		deviceWith('pump: relay({ pin: 26, activeLow: "yes" })'),
		'device.ts: part pump: activeLow: expected true or false, got "yes"',
	],
	[
		"a number for a part",
		deviceWith("pump: 26"),
		"device.ts: part pump: expected what relay(…), analog(…) or another function for parts returns",
	],
	[
		"the pin without its name",
		deviceWith("pump: relay(26)"),
		"device.ts: part pump: pin: expected the number of a pin, got undefined",
	],
	[
		"a name with a space",
		deviceWith('"water pump": relay({ pin: 26 })'),
		'device.ts: part "water pump": expected a name of 1 to 32 letters, digits and "_", which begins with a letter',
	],
	[
		"a function that does not exist",
		deviceWith("pump: rellay({ pin: 26 })"),
		"device.ts:3:17: rellay is not defined; did you mean relay?",
	],
	[
		"a function that is not imported",
		deviceWith("arm: servo({ pin: 26 })"),
		'device.ts:3:16: servo is not defined; import { servo } from "xs-mcp"',
	],
	[
		"an import that does not exist",
		'import { rellay } from "xs-mcp";\nexport default rellay({});\n',
		'device.ts:1:10: No matching export in "xs-mcp" for import "rellay"; did you mean relay?',
	],
	["a colon that is missing", deviceWith("pump: relay({ pin 26 })"), 'device.ts:3:29: Expected "}" but found "26"'],
	[
		"two parts of one name",
		deviceWith("pump: relay({ pin: 26 }), pump: relay({ pin: 27 })"),
		'device.ts:3:37: two parts or options have the name "pump"',
	],
	[
		"an unknown option of the device",
		deviceWith("", " bord: 'esp32'"),
		"device.ts: unknown option bord, expected board, parts, on, every, at; did you mean board?",
	],
	["a wrong chip", deviceWith("", ' board: "esp33"'), 'device.ts: board: unknown target "esp33". Did you mean esp32?'],
	[
		"a board without its chip",
		deviceWith("", ' board: "m5stack-cores3"'),
		'device.ts: board: unknown target "m5stack-cores3". Did you mean esp32/m5stack_cores3?',
	],
	[
		"ESPHome's board",
		deviceWith("", ' board: "esp32-s3-devkitc-1"'),
		'device.ts: board: unknown target "esp32-s3-devkitc-1". Did you mean esp32/esp32s3?',
	],
	[
		"a device that is not exported",
		'import { device } from "xs-mcp";\ndevice({ parts: {} });\n',
		'device.ts: expected "export default device({ parts: { … } })"',
	],
];

const OF_TOOLS: readonly (readonly [mistake: string, text: string, message: string])[] = [
	[
		"an unknown part",
		toolWith('needs: ["switch"],'),
		"unknown option switch, expected buttons, lights, sensors, switches, ",
	],
	[
		"a limit that is misspelled",
		toolWith("needs: [], input: { count: integer({ minimun: 0 }) },"),
		`tools/greet.ts: tool self.greet: input.count: unknown option minimun, expected ${INTEGER}; did you mean minimum?`,
	],
	[
		"a limit that is shortened",
		toolWith("needs: [], input: { count: integer({ min: 0 }) },"),
		`tools/greet.ts: tool self.greet: input.count: unknown option min, expected ${INTEGER}; did you mean minimum?`,
	],
	[
		"a number for a schema",
		toolWith("needs: [], input: { count: 5 },"),
		"tools/greet.ts: tool self.greet: input.count: expected what string(), integer() or another function for values returns",
	],
	[
		"a default that is too high",
		toolWith("needs: [], input: { count: integer({ maximum: 5, default: 6 }) },"),
		"tools/greet.ts: self.greet.count: default: expected an integer of at most 5, got 6",
	],
	["an unknown member", toolWith("needs: [], inputs: {},"), "output, check, takesCalls, run; did you mean input?"],
	["an unknown hint", toolWith("needs: [], annotations: { readonlyHint: true },"), "; did you mean readOnlyHint?"],
	[
		"no list of parts",
		toolWith(""),
		"tools/greet.ts: tool self.greet: needs: expected the parts that it uses, or [] for none",
	],
	[
		"no run",
		'import { defineTool } from "xs-mcp";\nexport default defineTool({ name: "self.greet", description: "Greets.", needs: [] });\n',
		"tools/greet.ts: tool self.greet: run: expected a function",
	],
	[
		"no default export",
		"export const greet = 1;\n",
		'tools/greet.ts: expected "export default defineTool({ … })", with a name',
	],
	["a name that is not defined", toolWith("needs: [], title: TITLE,"), "tools/greet.ts:4:20: TITLE is not defined"],
	[
		"a file that is not there",
		'import { words } from "./words.js";\nexport default words;\n',
		'tools/greet.ts:1:23: Could not resolve "./words.js"',
	],
];

describe("a mistake of a maker", () => {
	it("is not what a module of the SDK has, which is not here", async () => {
		const driver = `import SHT3x from "embedded:sensor/Humidity-Temperature/SHT3x";
import config from "mc/config";
import { defineTool, device, sensor } from "xs-mcp";
`;
		const files = {
			"device.ts": `${driver}export default device({ parts: { air: sensor(SHT3x, { bus: "default" }) } });\n`,
			"tools/greet.ts": `${driver}const pin = Number(config.pins.lamp);\nexport default defineTool({ name: "self.greet", description: "Greets.", needs: [], run: () => pin });\n`,
		};
		await assert.rejects(mistakeIn(files), /nothing is wrong/);
	});

	for (const [mistake, text, message] of OF_DEVICES) {
		it(`is named in device.ts: ${mistake}`, async () => {
			assert.equal(await mistakeIn({ "device.ts": text }), message);
		});
	}

	for (const [what, line] of [
		["a variable", "let count = 0;"],
		["a variable", "export var count: number;"],
		["a regular expression", "const count = /\\d/;"],
		["a regular expression", 'const count = new RegExp("a");'],
		["a Map or Set", "const count = new Map<string, number>();"],
		["a Map or Set", "export const count = new WeakSet();"],
	]) {
		it(`is named in a preloaded module: ${line}`, async () => {
			const files = { "tools/greet.ts": `// How often.\n${line}\n${toolWith("needs: [],")}` };
			assert.equal(
				await mistakeIn(files, ["tools/greet"]),
				`tools/greet.ts:2: count: a preloaded module lies in flash, and has no place for ${what}; move it into a function, or remove tools/greet from "preload" in manifest.json`,
			);
			await assert.rejects(mistakeIn(files), /nothing is wrong/);
		});
	}

	it("is not a variable or a regular expression in a function of a preloaded module", async () => {
		const words = "const words = (text: string): string[] => {\n\tlet rest = text;\n\treturn rest.split(/ /);\n};\n";
		const files = { "tools/greet.ts": `${words}${toolWith('needs: [], title: words("Hi")[0],')}` };
		await assert.rejects(mistakeIn(files, ["device", "tools/greet"]), /nothing is wrong/);
	});

	for (const [mistake, text, message] of OF_TOOLS) {
		it(`is named in the file of a tool: ${mistake}`, async () => {
			const told = await mistakeIn({ "tools/greet.ts": text });
			assert.ok(told.startsWith("tools/greet.ts:") && told.includes(message), told);
		});
	}
});
