import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { BoardData } from "xs-mcp-firmware/hardware/board-data";
import presets from "xs-mcp-firmware/hardware/boards/presets.json" with { type: "json" };
import type { Part } from "xs-mcp-firmware/hardware/hardware";
import { ROOT } from "../root.js";

/** Targets whose preset has members that boards which extend them have, too. */
const FAMILIES: readonly string[] = ["m5stack_cores3"];

const DATA = presets as unknown as Readonly<Record<string, BoardData>>;

/** Adds the members of the preset whose target a board extends. */
export function withBase(data: BoardData): BoardData {
	const base = FAMILIES.find((target) => target === data.extends);
	const { [base ?? ""]: preset } = DATA;
	return preset === undefined ? data : { ...preset, ...data, pins: { ...preset.pins, ...data.pins } };
}

/** The boards that are data, by name. */
export const PRESETS: ReadonlyMap<string, BoardData> = new Map(
	Object.entries(DATA).map(([name, data]) => [name, withBase(data)]),
);

/** The fixed heap of a board with PSRAM: bytes for strings and buffers, and slots. */
const PSRAM_CHUNKS = 262_144;
const PSRAM_SLOTS = 12_288;

/** Folders of the SDK's classes whose names differ from those of their chips. */
const FOLDERS: Readonly<Record<string, string>> = { ft6x06: "ft6206" };

/** Size of a board's flash in megabytes. */
export const megabytesOf = ({ flash = "4MB" }: BoardData): number => Number.parseInt(flash, 10);

/** Whether the flash has room for every feature. */
const isRoomy = (data: BoardData): boolean => megabytesOf(data) >= 8;

/** Whether a board records: the codec of speech needs PSRAM, and plays by the speaker. */
const hasCodec = ({ psram, speaker, microphone }: BoardData): boolean =>
	psram !== undefined && speaker !== undefined && microphone !== undefined;

/** Chips with two I2S ports. */
const TWO_PORTS = ["esp32", "esp32s3"];

/**
 * Whether a board records while it plays. The SDK plays through the first free I2S port. So a microphone on I2S needs
 * the second one, and one with PDM, which only the first port has, needs a port with independent directions.
 */
export function isFullDuplex(data: BoardData): boolean {
	const { chip = "", speaker, microphone } = data;
	const { i2s } = typeof speaker === "object" ? speaker : {};
	const { i2s: bus, pdm } = typeof microphone === "object" ? microphone : {};
	const isPossible = bus === undefined ? pdm !== undefined && chip === "esp32s3" : TWO_PORTS.includes(chip);
	const pins = [i2s, bus ?? pdm].flatMap((each) => Object.values(each ?? {}));
	return hasCodec(data) && i2s !== undefined && isPossible && new Set(pins).size === pins.length;
}

/** Parts of a board beyond those of a bare chip. */
export function partsOfData(data: BoardData): readonly Part[] {
	const { display, touch, speaker, camera, buttons, leds, power, motion, light, head } = data;
	const parts: readonly (readonly [has: boolean, ...parts: Part[]])[] = [
		[speaker !== undefined, "speaker", "player"],
		[hasCodec(data), "codec"],
		[display !== undefined, "screen"],
		[display !== undefined && isRoomy(data), "preview"],
		[camera !== undefined, "camera"],
		[power !== undefined, "battery"],
		[(buttons ?? touch ?? head?.touch) !== undefined, "buttons"],
		[leds !== undefined, "lights"],
		[(motion ?? light) !== undefined, "sensors"],
		[head !== undefined, "servos", "head"],
	];
	return parts.flatMap(([has, ...names]) => (has ? names : []));
}

/** The name of a driver in a member of a board; undefined for the SDK target's own. */
const driverIn = (member: unknown): string | undefined =>
	typeof member === "string" ? member : (member as { readonly driver?: string } | undefined)?.driver;

/** Chips with a module of this firmware in src/hardware/drivers. */
const codecsOf = ({ speaker, microphone }: BoardData): readonly string[] => {
	const codecs = [speaker, microphone].map((part) => (typeof part === "object" ? part.codec : undefined));
	return [...new Set(codecs.filter((codec) => codec !== undefined))];
};

/** Manifests of the SDK for the modules that drivers use. */
const SDK_MANIFESTS: Readonly<Record<string, string>> = {
	"embedded:io/digital": "$(MODDABLE)/modules/io/digital/manifest.json",
	"embedded:io/pwm": "$(MODDABLE)/modules/io/pwm/manifest.json",
	"embedded:io/serial": "$(MODDABLE)/modules/io/serial/manifest.json",
	"embedded:network/interface/ethernet": "$(MODDABLE)/modules/io/ethernet/manifest.json",
	neopixel: "$(MODULES)/drivers/neopixel/manifest.json",
};

/** Manifests of members, from the folder `src`: their tools, and what else their modules need. */
const MEMBER_FILES: Readonly<Partial<Record<keyof BoardData, readonly string[]>>> = {
	display: ["screen/manifest_face.json"],
	speaker: ["sound/manifest_player.json"],
	microphone: ["sound/manifest_opus.json"],
	camera: ["hardware/drivers/manifest_camera.json"],
	leds: ["tools/parts/set-light"],
	motion: ["tools/parts/read-sensor"],
	light: ["tools/parts/read-sensor"],
	head: ["tools/head-gesture", "tools/look-at", "tools/move-head", "tools/parts/move-servo"],
};

/** Lists modules and those that they import: the SDK's, and those of src/hardware. Others that drivers use are in all builds. */
function withImports(modules: readonly string[]): ReadonlySet<string> {
	const found = new Set(modules);
	// The loop also visits modules that it adds.
	for (const module of found) {
		const text = module.startsWith("hardware/") ? readFileSync(join(ROOT, "src", `${module}.ts`), "utf8") : "";
		for (const [, path = ""] of text.matchAll(/^import (?!type\b)[^;]*?"([^"]+)";$/gm)) {
			const name = path.startsWith(".") ? posix.join(posix.dirname(module), path).replace(/\.js$/, "") : path;
			if (!path.startsWith(".") || name.startsWith("hardware/")) {
				found.add(name);
			}
		}
	}
	return found;
}

/** Manifests of the SDK and of this firmware for the members of a board, and modules of the latter, from the folder `src`. */
function filesOf(data: BoardData): { readonly manifests: readonly string[]; readonly modules: readonly string[] } {
	const { display, touch, camera, leds = {}, power, motion, light, rtc, head } = data;
	const members = Object.keys(runtimeOf(data)) as (keyof BoardData)[];
	const lights = Object.values(leds);
	const hasPwm = typeof display?.backlight === "number" || typeof display?.backlight === "object";
	const drivers = [
		...members.map((member) => `open-${member}`),
		...codecsOf(data),
		...(lights.some((led) => "py32" in led) ? ["py32-light"] : []),
		...(camera?.makesJpeg === false ? ["frame-jpeg"] : []),
	];
	const found = [
		...withImports(drivers.map((name) => `hardware/drivers/${name}`)),
		...(lights.some((led) => "neopixel" in led) ? ["neopixel"] : []),
		...(hasPwm || lights.some((led) => "pin" in led) ? ["embedded:io/pwm"] : []),
	];
	const added = members.flatMap((member) => MEMBER_FILES[member] ?? []);
	const sdk = (folder: string, member: unknown): string[] => {
		const driver = driverIn(member);
		return driver === undefined
			? []
			: [`$(MODDABLE)/modules/drivers/${folder}/${FOLDERS[driver] ?? driver}/manifest.json`];
	};
	return {
		manifests: [
			"hardware/drivers/manifest_esp32.json",
			...found.flatMap((name) => SDK_MANIFESTS[name] ?? []),
			...added.filter((file) => file.endsWith(".json")),
			...(display !== undefined && isRoomy(data) ? ["screen/manifest_preview.json"] : []),
			...(hasConsole(data) ? ["hardware/drivers/manifest_devkit.json"] : []),
			...[touch, motion, light, head?.touch].flatMap((member) => sdk("sensors", member)),
			...[power, rtc].flatMap((member) => sdk("peripherals", member)),
		],
		modules: [
			...found.filter((name) => name.startsWith("hardware/")),
			...added.filter((file) => !file.endsWith(".json")),
		],
	};
}

/** Whether the set-up by the serial port of a chip's log fits: targets of the SDK may use its pins. */
const hasConsole = (data: BoardData): boolean =>
	data.extends === undefined && data.ethernet === undefined && (data.display === undefined || isRoomy(data));

/** The members that the firmware needs at run time: `config.board` of a manifest. */
function runtimeOf(data: BoardData): BoardData {
	const { display, speaker, microphone, camera } = data;
	const pick = <Member extends object, Name extends keyof Member>(
		member: Member | true | undefined,
		...names: Name[]
	): object | true | undefined =>
		typeof member === "object"
			? Object.fromEntries(names.flatMap((name) => (member[name] === undefined ? [] : [[name, member[name]]])))
			: member;
	const members = {
		display: pick(display, "backlight"),
		speaker: pick(speaker, "codec", "address", "i2s", "volume"),
		microphone: hasCodec(data) ? pick(microphone, "codec", "address", "i2s", "channels") : undefined,
		camera: pick(camera, "width", "height"),
	};
	if (isFullDuplex(data)) {
		Object.assign(members.microphone as object, { hasOwnPort: true });
	}
	const { touch, buttons, leds, power, motion, light, rtc, outputs, expander, ethernet, head } = data;
	Object.assign(members, { ethernet, touch, buttons, leds, power, motion, light, rtc, outputs, expander, head });
	return JSON.parse(JSON.stringify(members));
}

/** Returns the folder of a target in the SDK. */
export const targetFolder = (target: string): string => `$(MODDABLE)/build/devices/esp32/targets/${target}`;

/**
 * Makes the manifest of the parts of a board.
 *
 * @param src path of the firmware's folder `src` from the manifest's
 * @param sdkconfig path of the folder of ESP-IDF's settings. It is here, because mcconfig reads the manifest of the SDK's target
 *   that a board extends after the board's own target
 */
export function boardManifest(name: string, data: BoardData, src: string, sdkconfig: string): object {
	const { psram, display, setup, power } = data;
	// A part cannot be opened twice: the set-ups of the SDK's targets open some.
	const keepsSetup = setup ?? display?.backlight === true;
	const leavesSetup = !keepsSetup && data.extends !== undefined;
	const { manifests, modules } = filesOf(data);
	return {
		build: {
			"GLYPHS ?=": isRoomy(data) ? "cjk" : "latin",
			PARTITIONS_FILE: `$(PARTITIONS)/${megabytesOf(data)}mb.csv`,
			SDKCONFIGPATH: sdkconfig,
		},
		defines: { firmware: { board: `#${name}` } },
		include: manifests.map((path) => (path.startsWith("$") ? path : `${src}/${path}`)),
		modules: {
			...(leavesSetup && { "~": [`${targetFolder(data.extends)}/setup-target`, "$(MODULES)/pins/i2s/*"] }),
			...(typeof power === "object" &&
				power.isOpen && { "embedded:peripheral/Power/axp2101": `${src}/hardware/drivers/axp2101` }),
			...Object.fromEntries(modules.map((path) => [`src/${path}`, `${src}/${path}`])),
		},
		...((leavesSetup || setup) && { resources: { "~": "$(MODDABLE)/examples/assets/sounds/bflatmajor" } }),
		config: {
			...(setup && { startupSound: false }),
			...(psram !== undefined && { chunkBytes: PSRAM_CHUNKS }),
			board: runtimeOf(data),
		},
		...(psram !== undefined && {
			creation: { chunk: { initial: PSRAM_CHUNKS }, heap: { initial: PSRAM_SLOTS } },
		}),
	};
}

/** Makes the manifest of the features that a board has room for. @param src as for {@link boardManifest} */
export function featuresManifest(data: BoardData, src: string): object {
	// With a screen, 4 MB are too small for discovery, resources, the device's own server and the set-up over the cable.
	const small = ["manifest_log.json", "manifest_mqtt.json"];
	const bare = ["discovery/manifest.json", "direct/manifest.json", "resources/manifest.json", ...small];
	const others = (data.display === undefined ? bare : small).map((path) => `features/${path}`);
	const features = isRoomy(data) ? ["build/manifest_roomy.json"] : others;
	const power = data.power === undefined ? [] : ["features/manifest_power.json"];
	return {
		include: [...features, ...power].map((path) => `${src}/${path}`),
		...(hasConsole(data) && !isRoomy(data)
			? {
					modules: Object.fromEntries(
						["features/improv", "protocols/improv-packet"].map((path) => [`src/${path}`, `${src}/${path}`]),
					),
				}
			: {}),
	};
}

/** Name of the bus of the board's own chips, to which others can be connected. */
export const BOARD_BUS = "I2C bus";

/** Pins of the PSRAM, by the chip. */
const PSRAM_PINS: Readonly<Partial<Record<string, readonly number[]>>> = {
	esp32: [16, 17],
	"esp32s3 octal": [33, 34, 35, 36, 37],
};

/** Pins of an ESP32 for data and the clock of an Ethernet PHY. */
const RMII_PINS: readonly number[] = [0, 19, 21, 22, 25, 26, 27];

/** A pin of a board, the part at it, and its place in the board's data: "display.spi.clock". */
export interface BoardPin {
	readonly part: string;
	readonly path: string;
	readonly pin: number;
}

/** Lists the pins in a value and its members. */
const pinsIn = (part: string, path: string, value: unknown): readonly BoardPin[] => {
	if (typeof value === "number") {
		return [{ part, path: path.replace(/(\..+)\.(pin|neopixel)$/, "$1"), pin: value }];
	}
	return Object.entries(typeof value === "object" && value !== null ? value : {}).flatMap(([name, each]) =>
		["hz", "mode", "length", "py32"].includes(name) ? [] : pinsIn(part, `${path}.${name}`, each),
	);
};

/** Pins of a board's camera, or of the camera of the board that `pinsOf` names. */
export function cameraPins({ camera = {} }: BoardData): NonNullable<BoardData["camera"]> {
	const { width: _width, height: _height, makesJpeg: _makesJpeg, pinsOf, ...pins } = camera;
	return pinsOf === undefined ? pins : cameraPins(PRESETS.get(pinsOf) ?? {});
}

/** Lists the pins that a board itself uses, each with its part. */
export function boardPins(data: BoardData, chip: string): readonly BoardPin[] {
	const { buttons = {}, leds = {}, pins = {} } = data;
	const of = (part: string, member: keyof BoardData, ...names: string[]): readonly BoardPin[] =>
		names.flatMap((name) =>
			pinsIn(part, `${member}.${name}`, (data[member] as Readonly<Record<string, unknown>> | undefined)?.[name]),
		);
	const psram = data.psram && (PSRAM_PINS[chip] ?? PSRAM_PINS[`${chip} ${data.psram.split(" ")[1]}`]);
	return [
		...(psram ?? []).map((pin) => ({ part: "PSRAM", path: "psram", pin })),
		...of(BOARD_BUS, "i2c", "data", "clock"),
		...of("screen", "display", "spi", "parallel", "qspi", "dc", "select", "reset", "backlight"),
		...of("touch screen", "touch", "interrupt", "reset", "i2c"),
		...of("speaker", "speaker", "i2s", "pdm", "enable"),
		...of("microphone", "microphone", "i2s", "pdm"),
		...pinsIn("camera", "camera", cameraPins(data)),
		...(data.ethernet ? RMII_PINS : []).map((pin) => ({ part: "ethernet", path: "ethernet", pin })),
		...of("servo bus", "head", "transmit", "receive"),
		...of("ethernet", "ethernet", "mdc", "mdio", "power", "reset"),
		...Object.keys(data.outputs ?? {}).map((pin) => ({ part: "power switches", path: "outputs", pin: Number(pin) })),
		...Object.keys(buttons).flatMap((name) => of(`button ${name}`, "buttons", name)),
		...Object.keys(leds).flatMap((name) => of(name === "led" ? "LED" : `LED ${name}`, "leds", name)),
		...Object.keys(pins).flatMap((name) => of(name, "pins", name)),
	];
}
