import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, it } from "node:test";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { checkDevice } from "../src/build/check-board.js";
import { fromProject } from "../src/build/manifests.js";
import { readDevice } from "../src/build/read-device.js";
import { ROOT } from "../src/root.js";

/** Reads a project with these files, and resolves with the error or the warnings, without the folder's path. */
async function mistakeIn(files: Readonly<Record<string, string>>, preload: readonly string[] = []): Promise<string> {
	const folder = temporaryFolder();
	const include = [relative(folder, join(ROOT, "src/hardware/parts/manifest.json"))];
	const manifest = { include, modules: { device: "./device", "tools/*": "./tools/*" }, preload };
	mkdirSync(join(folder, "tools"));
	const written = {
		"manifest.json": JSON.stringify(manifest),
		"device.ts": deviceWith("pump: relay({ pin: 26 })"),
		...files,
	};
	for (const [name, text] of Object.entries(written)) {
		writeFileSync(join(folder, name), text);
	}
	const message = await readDevice(fromProject(join(folder, "manifest.json")), "virtual")
		.then((device) => (device ? [...device.warnings, ...checkDevice(device)].join("\n") : "no device"))
		.catch((error: Error) => error.message);
	return message.replaceAll(`${relative(process.cwd(), folder)}/`, "");
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
		"two parts on one pin",
		deviceWith("pump: relay({ pin: 32 }), lamp: relay({ pin: 32 })"),
		"device.ts: part lamp: pin 32 is in use by pump; these would do: 4, 13, 14, 18, 19, 21, 22, 23, 25, 26, 27, 33",
	],
	[
		"the name of a button of the board",
		deviceWith("boot: relay({ pin: 26 })", ' board: "esp32/esp32_devkit"'),
		"device.ts: part boot: the board has buttons of this name: choose another name",
	],
	[
		"handlers without device()",
		"export default { parts: {}, every: [[60, () => {}]] };\n",
		'device.ts: expected "export default device({ parts: { … } })"',
	],
	["a value that is thrown", 'throw "later";\n', 'device.ts: throws "later"'],
	["null that is thrown", "throw null;\n", "device.ts: throws null"],
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
		"a minimum above the maximum",
		toolWith("needs: [], input: { count: integer({ minimum: 5, maximum: 1 }) },"),
		"tools/greet.ts: tool self.greet: input.count: minimum: expected at most maximum, 1, got 5",
	],
	[
		"a tool without defineTool()",
		'export default { name: "self.greet", description: "Greets.", needs: [], run: () => true };\n',
		'tools/greet.ts: expected "export default defineTool({ … })", with a name',
	],
	[
		"a part of the device that is misspelled",
		toolWith('needs: ["switches"], check: (_, { switches }) => {\n\t\tswitches.pmp.turn(false);\n\t},'),
		"tools/greet.ts:5: switches.pmp: the device has pump; did you mean pump?",
	],
	[
		"a part that the device lacks",
		toolWith('needs: ["sensors"], check: (_, { sensors }) => Number(sensors.soil.read()),'),
		"tools/greet.ts:4: sensors.soil: the device has none",
	],
	[
		"a file that is not there",
		'import { words } from "./words.js";\nexport default words;\n',
		'tools/greet.ts:1:23: Could not resolve "./words.js"',
	],
];

const MODULES = { device: "./device", "tools/*": "./tools/*" };

const OF_MANIFESTS: readonly (readonly [mistake: string, manifest: string | object, message: string])[] = [
	["a comma at the end", '{\n\t"config": {},\n}\n', "manifest.json:2:14: JSON does not support trailing commas"],
	["a comment", "// The pond.\n{}\n", "manifest.json:1:1: JSON does not support comments"],
	[
		"a byte order mark",
		"\ufeff{}\n",
		"manifest.json: starts with a byte order mark (BOM), which mcconfig does not read: save it as UTF-8 without one",
	],
	["null", "null", "manifest.json: expected an object with build, include, modules, preload and config"],
	["a misspelled member", { module: MODULES }, "manifest.json: unknown member module; did you mean modules?"],
	["null for an object", { config: null }, "manifest.json: config: expected an object, got null"],
	["a text for an object", { modules: "./device" }, 'manifest.json: modules: expected an object, got "./device"'],
	[
		"a number in a list",
		{ preload: ["device", 5] },
		'manifest.json: preload: expected a string or a list of strings, got ["device",5]',
	],
	["a number for a module", { modules: { device: 5 } }, 'manifest.json: "modules": "device": expected a path, got 5'],
	[
		"a module without its folder",
		{ modules: { device: "device" } },
		'manifest.json: "modules" names device, which is not a path',
	],
	[
		"a misspelled module",
		{ modules: MODULES, preload: "devise" },
		'manifest.json: "preload" names devise, which is no module; did you mean device?',
	],
];

describe("a mistake of a maker", () => {
	for (const [mistake, manifest, message] of OF_MANIFESTS) {
		it(`is named in manifest.json: ${mistake}`, async () => {
			const text = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
			assert.equal(await mistakeIn({ "manifest.json": text }), message);
		});
	}

	it("is named in manifest.json: a space of a web page", async () => {
		assert.match(await mistakeIn({ "manifest.json": "{\u00a0}" }), /^manifest\.json: .*JSON/);
	});

	it("is not another member of a manifest that mcconfig reads or ignores", async () => {
		const known = "ble bundle commonjs components data dependencies errors ffi recipes run strip typescript warnings";
		const names = `${known} //config _config config_old comments types`.split(" ");
		const manifest = Object.fromEntries(names.map((name) => [name, {}]));
		assert.equal(await mistakeIn({ "manifest.json": JSON.stringify(manifest) }), "no device");
	});

	it("is not what a module of the SDK has, which is not here", async () => {
		const driver = `import SHT3x from "embedded:sensor/Humidity-Temperature/SHT3x";
import config from "mc/config";
import { defineTool, device, sensor } from "xs-mcp";
`;
		const files = {
			"device.ts": `${driver}export default device({ parts: { air: sensor(SHT3x, { bus: "default" }) } });\n`,
			"tools/greet.ts": `${driver}const pin = Number(config.pins.lamp);\nexport default defineTool({ name: "self.greet", description: "Greets.", needs: [], run: () => pin });\n`,
		};
		assert.equal(await mistakeIn(files), "");
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
			assert.equal(await mistakeIn(files), "");
		});
	}

	it("is not a part that may be absent, a list, a comment, a file or a variable", async () => {
		const code =
			"// lights.led.on\n\t\tswitches.pmp?.turn(false);\n\t\treturn switches.length + lines.first + sensors.map(Number);";
		const files = {
			"lights.ts": "export const lines = { first: 1 };\n",
			"tools/greet.ts": `import { lines } from "../lights.js";\n${toolWith(
				`needs: ["sensors", "switches"], check: (_, { sensors, switches }) => {\n\t\t${code}\n\t},`,
			)}`,
		};
		assert.equal(await mistakeIn(files), "");
	});

	for (const [name, other] of [
		["self.greet", "tools/greet.ts"],
		["self.switch.set", "the firmware (src/tools/parts/set-switch.ts)"],
	] as const) {
		it(`is a second tool of a name, which stops the firmware: ${name}`, async () => {
			const second = toolWith("needs: [],").replace("self.greet", name);
			assert.equal(
				await mistakeIn({ "tools/greet.ts": toolWith("needs: [],"), "tools/second.ts": second }),
				`tools/second.ts: tool ${name}: ${other} has a tool of this name: choose another name`,
			);
		});
	}

	it("is a space in the name of a tool's file", async () => {
		assert.equal(
			await mistakeIn({ "tools/my tool.ts": toolWith("needs: [],") }),
			"tools/my tool: the SDK's makefiles take no spaces in the name of a module",
		);
	});

	it("is found in all modules that a pattern of preload names, also of JavaScript", async () => {
		const files = { "tools/greet.mjs": `let count = 0;\n${toolWith("needs: [],")}` };
		assert.match(await mistakeIn(files, ["tools/*"]), /^tools\/greet\.mjs:1: count: a preloaded module lies in flash/);
	});

	it("is not a variable or a regular expression in a function of a preloaded module", async () => {
		const words = "const words = (text: string): string[] => {\n\tlet rest = text;\n\treturn rest.split(/ /);\n};\n";
		const files = { "tools/greet.ts": `${words}${toolWith('needs: [], title: words("Hi")[0],')}` };
		assert.equal(await mistakeIn(files, ["device", "tools/greet"]), "");
	});

	for (const [mistake, text, message] of OF_TOOLS) {
		it(`is named in the file of a tool: ${mistake}`, async () => {
			const told = await mistakeIn({ "tools/greet.ts": text });
			assert.ok(told.startsWith("tools/greet.ts:") && told.includes(message), told);
		});
	}
});
