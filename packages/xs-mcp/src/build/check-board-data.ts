import type { BoardData, Chip, HeadServo } from "xs-mcp-firmware/hardware/board-data";
import { aFlag, aNumber, anInteger, aPin, rangeFault } from "xs-mcp-firmware/hardware/parts/part";
import { cameraPins, PRESETS } from "./board-manifest.js";
import { didYouMean } from "./suggest.js";

/** Checks a value. Returns the error, which names it, or false. */
type Check = (name: string, value: unknown) => string | false | undefined;

type Checks<Members> = Readonly<Record<keyof Members, Check>>;

/** Chips that cannot run the firmware, and what they would need. */
const REFUSED_CHIPS: Readonly<Record<string, string>> = {
	esp32c2: "SDK 8.2.3 has no build for it (xsProj-esp32c2)",
	esp32c5: "SDK 8.2.3 has no build for it: it needs an SDK with xsProj-esp32c5",
	esp32c61: "SDK 8.2.3 has no build for it: it needs an SDK with xsProj-esp32c61",
	esp32h2: "it has no Wi-Fi: its radio knows Bluetooth LE, Thread and Zigbee only",
	esp32p4:
		"it has no radio, and SDK 8.2.3 has no build for it: it needs an SDK with xsProj-esp32p4, and Ethernet or ESP-Hosted",
	esp32s31: "SDK 8.2.3 has no build for it",
};

/** Displays that the firmware cannot use. */
const REFUSED_DISPLAYS: Readonly<Record<string, string>> = {
	ssd1306: "it is monochrome, and the face needs a screen of 16-bit colours",
	sh1106: "the SDK has no driver, and the face needs a screen of 16-bit colours",
	st7796: 'use driver "ili9341" with the panel\'s own registers',
	gc9107: 'use driver "ili9341" with the panel\'s own registers',
	st77916: "the SDK has no driver for panels on QSPI but the CO5300",
	axs15231b: "the SDK has no driver for panels on QSPI but the CO5300",
};

/** Maximum number of a command's parameters: more would overwrite the stack of the SDK's driver. */
const MAX_PARAMETERS = 16;

const shown = (value: unknown): string => JSON.stringify(value) ?? String(value);

/** Takes one of these values. The error for others has the reason, or the nearest value. */
const choice =
	(values: readonly (string | number)[], refused: Readonly<Record<string, string>> = {}): Check =>
	(name, value) => {
		if (values.includes(value as string)) {
			return false;
		}
		const reason = typeof value === "string" && Object.hasOwn(refused, value) ? refused[value] : undefined;
		const hint = typeof value === "string" ? didYouMean(value, values.map(String)) : "";
		return reason === undefined
			? `${name}: unknown ${shown(value)}, expected ${values.join(", ")}${hint}`
			: `${name}: ${value} cannot be used: ${reason}`;
	};

/** Takes an object with these members, each of which may be absent unless it is required. */
const object =
	<Members extends object>(checks: Checks<Required<Members>>, ...required: (keyof Members & string)[]): Check =>
	(name, value) => {
		const known = Object.keys(checks);
		if (typeof value !== "object" || value === null || Array.isArray(value)) {
			return `${name}: expected an object with ${known.join(", ")}, got ${shown(value)}`;
		}
		const unknown = Object.keys(value).find((each) => !known.includes(each));
		if (unknown !== undefined) {
			return `${name}.${unknown}: unknown member, expected ${known.join(", ")}${didYouMean(unknown, known)}`;
		}
		const members = value as Readonly<Record<string, unknown>>;
		for (const each of known) {
			const isAbsent = members[each] === undefined;
			const missing = isAbsent && (required as readonly string[]).includes(each) && `${name}.${each}: missing`;
			const error = missing || (!isAbsent && checks[each as keyof Members](`${name}.${each}`, members[each]));
			if (error) {
				return error;
			}
		}
		return false;
	};

/** Takes an array of this many values, or of any number. */
const list =
	(check: Check, length?: number): Check =>
	(name, value) => {
		if (!Array.isArray(value) || (length !== undefined && value.length !== length)) {
			return `${name}: expected an array${length === undefined ? "" : ` of ${length}`}, got ${shown(value)}`;
		}
		return value.map((each, at) => check(`${name}[${at}]`, each)).find(Boolean);
	};

/** Takes an object of values by names of the board's own. */
const named =
	(check: Check): Check =>
	(name, value) =>
		typeof value !== "object" || value === null || Array.isArray(value)
			? `${name}: expected an object, got ${shown(value)}`
			: Object.entries(value)
					.map(([each, own]) => check(`${name}.${each}`, own))
					.find(Boolean);

/** Takes levels of outputs by number. */
const levels =
	(number: Check): Check =>
	(name, value) =>
		named(aLevel)(name, value) ||
		Object.keys(value as object)
			.map((each) => number(`${name}.${each}`, /^(0|[1-9]\d*)$/.test(each) ? Number(each) : each))
			.find(Boolean);

/** Uses the first check for values of this type, and the second one for others. */
const either =
	(type: "number" | "boolean" | "string", first: Check, second: Check): Check =>
	(name, value) =>
		(typeof value === type ? first : second)(name, value);

const aText: Check = (name, value) => typeof value !== "string" && `${name}: expected a text, got ${shown(value)}`;
const isTrue: Check = (name, value) => value !== true && `${name}: expected true, got ${shown(value)}`;
const registers: Check = (name, value) =>
	!/^[0-9a-f]{4}( [0-9a-f]{4})*$/i.test(String(value)) &&
	`${name}: expected registers with values, two hexadecimal digits each, such as "2206 2710", got ${shown(value)}`;
const anOrder: Check = (name, value) =>
	!(typeof value === "string" && /^(?!.*(.).*\1)[RGBW]{3,4}$/.test(value)) &&
	`${name}: expected three or four of R, G, B and W, got ${shown(value)}`;
const aByte = anInteger(0, 255);
const aLevel = choice([0, 1]);
const anAddress = anInteger(1, 0x7f);
/** Takes an object, or true for a part that the target of the SDK has. */
const objectOrTrue = (checks: Checks<object>): Check => either("boolean", isTrue, object(checks));

type Words<Text> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** Makes the same check for several members, by their names in a text. */
const each = <const Names extends string>(names: Names, check: Check): Readonly<Record<Words<Names>, Check>> =>
	Object.fromEntries(names.split(" ").map((name) => [name, check])) as Record<Words<Names>, Check>;

const bus = object<{ data: number; clock: number }>(each("data clock", aPin), "data", "clock");

const i2s = object<{ clock: number; word: number; data: number; main: number }>(
	{
		// The C of audio out takes 0 for none.
		clock: (name, value) =>
			value === 0 ? `${name}: GPIO 0 cannot be the clock: the SDK's driver takes 0 for none` : aPin(name, value),
		...each("word data main", aPin),
	},
	"clock",
	"word",
	"data",
);

const aStep: Check = (name, step) => {
	if (!Array.isArray(step)) {
		return object<{ delay: number }>({ delay: anInteger(1, 255) }, "delay")(name, step);
	}
	return step.length < 1 || step.length > MAX_PARAMETERS + 1
		? `${name}: expected a command with at most ${MAX_PARAMETERS} parameters, got ${step.length - 1}: the SDK's driver has no room for more`
		: list(aByte)(name, step);
};

const display = object<NonNullable<BoardData["display"]>>(
	{
		driver: choice("ili9341 st7789 st7735 gc9a01 ili9341_p8 st7789_p8 co5300".split(" "), REFUSED_DISPLAYS),
		...each("width height", anInteger(1, 1024)),
		spi: object(
			{ ...each("data clock", aPin), mode: choice([0, 1, 2, 3]), hz: anInteger(100_000, 80_000_000) },
			"data",
			"clock",
		),
		parallel: object({ data: list(aPin, 8), ...each("write read", aPin) }, "data", "write"),
		qspi: object({ data: list(aPin, 4), clock: aPin }, "data", "clock"),
		...each("dc select reset", aPin),
		backlight: either("number", aPin, either("boolean", isTrue, object({ pin: aPin, activeLow: aFlag }, "pin"))),
		offset: list(anInteger(0, 1024), 2),
		rotation: choice([0, 90, 180, 270]),
		...each("invert bgr swap", aFlag),
		mirror: choice(["x", "y", "xy"]),
		registers: list(aStep),
	},
	"width",
	"height",
);

const camera = object<NonNullable<BoardData["camera"]>>({
	...each("width height", anInteger(1, 4096)),
	pinsOf: (name, value) =>
		choice([...PRESETS].flatMap(([each, data]) => (cameraPins(data).data ? [each] : [])))(name, value),
	data: list(aPin, 8),
	...each("xclk pclk href vsync sda scl powerDown reset", aPin),
	makesJpeg: aFlag,
});

/** Pins without which a camera cannot work. */
const CAMERA_PINS = ["data", "xclk", "pclk", "href", "vsync", "sda", "scl"] as const;

const CHIP_NAMES: readonly Chip[] = ["esp32", "esp32s2", "esp32s3", "esp32c3", "esp32c6"];

/** The highest pin of expanders with more than eight. */
const EXPANDER_PINS: Readonly<Record<string, number>> = { tca9555: 15, py32: 13 };

/** Highest position of a head's servos, and degrees of one step. */
const MAX_POSITION = 1023;
const STEP = 0.3125;

const headServo = object<HeadServo>(
	{ id: anInteger(0, 253), zero: anInteger(0, MAX_POSITION), ...each("min max", aNumber(-180, 180)) },
	"id",
	"zero",
	"min",
	"max",
);

/** Returns the error of a head whose members contradict each other. */
function headFault({ yaw, pitch }: NonNullable<BoardData["head"]>): string | undefined {
	for (const [name, { zero, min, max }] of Object.entries({ yaw, pitch })) {
		const range = rangeFault(min, max);
		if (range) {
			return `head.${name}.${range}`;
		}
		const lowest = Math.ceil(-zero * STEP);
		const highest = Math.floor((MAX_POSITION - zero) * STEP);
		if (min < lowest || max > highest) {
			return `head.${name}: expected min and max from ${lowest} to ${highest} with zero ${zero}, got ${min} and ${max}`;
		}
	}
	return yaw.id === pitch.id ? `head.pitch.id: expected another than that of yaw, ${yaw.id}` : undefined;
}

const BOARD = object<BoardData>({
	...each("title source extends note", aText),
	setup: aFlag,
	chip: choice(CHIP_NAMES, REFUSED_CHIPS),
	flash: choice(["4MB", "8MB", "16MB"]),
	psram: choice(["2MB", "4MB", "8MB", "16MB"].flatMap((size) => ["quad", "octal"].map((width) => `${size} ${width}`))),
	i2c: bus,
	outputs: levels(aPin),
	display,
	touch: objectOrTrue({
		driver: choice("cst328 cst816 cst816s ft3168 ft6x06 gt911".split(" ")),
		address: anAddress,
		...each("interrupt reset", aPin),
		i2c: bus,
	}),
	speaker: objectOrTrue({
		i2s,
		...each("pdm enable", aPin),
		codec: choice(["aw88298", "es8311"]),
		address: anAddress,
		volume: anInteger(0, 100),
	}),
	microphone: objectOrTrue({
		i2s,
		pdm: bus,
		codec: choice(["es7210", "es8311"]),
		address: anAddress,
		bits: choice([16, 32]),
		gain: aNumber(1, 64),
		channels: choice([1, 2]),
	}),
	camera,
	buttons: named(either("number", aPin, object({ pin: aPin, activeHigh: aFlag }, "pin"))),
	leds: named((name, value) => {
		const has = (member: string): boolean => typeof value === "object" && value !== null && member in value;
		if (has("neopixel")) {
			return object({ neopixel: aPin, length: anInteger(1, 1024), order: anOrder }, "neopixel")(name, value);
		}
		return has("py32")
			? object({ py32: anInteger(1, 32) })(name, value)
			: object({ pin: aPin, activeLow: aFlag }, "pin")(name, value);
	}),
	power: objectOrTrue({ driver: choice(["axp192", "axp2101"]), registers, ...each("backlight isOpen", aFlag) }),
	motion: objectOrTrue({
		driver: choice("mpu6050 mpu6886 mpu9250 qmi8658 sh200q bmi270".split(" ")),
		address: anAddress,
		unit: choice(["g", "m/s²"]),
	}),
	rtc: either("boolean", isTrue, choice("bm8563 ds1307 ds3231 mcp7940 pcf85063 pcf8523 pcf8563 rv3028".split(" "))),
	light: choice(["ltr553als"]),
	ethernet: object({ address: anInteger(0, 31), ...each("mdc mdio power reset", aPin) }, "address", "mdc", "mdio"),
	expander: (name, value) =>
		object(
			{
				driver: choice("tca9554 pca9557 tca9555 pi4ioe5v6408 py32".split(" ")),
				address: anAddress,
				outputs: levels(anInteger(0, EXPANDER_PINS[(value as BoardData["expander"])?.driver ?? ""] ?? 7)),
			},
			"driver",
			"outputs",
		)(name, value),
	head: object<NonNullable<BoardData["head"]>>(
		{ ...each("transmit receive", aPin), ...each("yaw pitch", headServo), touch: choice(["si12t"]) },
		"transmit",
		"receive",
		"yaw",
		"pitch",
	),
	...each("pins unusedPins", named(list(aPin))),
});

/** Possible faults, each with its error. */
type Faults = readonly (readonly [isFault: boolean, error: string])[];

/** Returns the error of the first fault found. */
export const reasonOf = (faults: Faults): string | undefined => faults.find(([isFault]) => isFault)?.[1];

/** Lists the possible faults of any board: features that its chip lacks, and missing members that others require. */
function faultsOf({ psram, display: screen, microphone, ...data }: BoardData, chip: string): Faults {
	const isSmall = /c3|c6/.test(chip);
	const driver = screen?.driver;
	const panelBus = driver === "co5300" ? "qspi" : driver?.endsWith("_p8") ? "parallel" : "spi";
	const contradiction = data.head && headFault(data.head);
	return [
		[
			psram !== undefined && (isSmall || (chip !== "esp32s3" && psram.endsWith("octal"))),
			`psram: the ${chip} has none${isSmall ? "" : " with an octal bus"}`,
		],
		[data.ethernet !== undefined && chip !== "esp32", `ethernet: the ${chip} has none`],
		[data.camera !== undefined && isSmall, `camera: the ${chip} has no interface for one`],
		[data.head !== undefined && !["esp32", "esp32s3"].includes(chip), `head: the ${chip} has no third UART`],
		[contradiction !== undefined, contradiction ?? ""],
		...Object.entries(data.leds ?? {}).map(
			([name, led]) =>
				["py32" in led && data.expander?.driver !== "py32", `leds.${name}.py32: expected the expander py32`] as const,
		),
		[
			driver !== undefined && screen?.[panelBus] === undefined,
			`display.${panelBus}: missing: ${driver} is on this bus`,
		],
		[driver !== undefined && panelBus !== "qspi" && screen?.dc === undefined, "display.dc: missing"],
		...(["registers", "mirror", "swap", "invert", "bgr"] as const).map(
			(name) =>
				[
					driver === "co5300" && screen?.[name] !== undefined,
					`display.${name}: the SDK's driver of the co5300 has none`,
				] as const,
		),
		[
			typeof microphone === "object" && microphone.codec !== undefined && microphone.bits === 32,
			`microphone.bits: the ${typeof microphone === "object" && microphone.codec} has slots of 16 bits`,
		],
	];
}

/** Lists the possible faults of a board that extends no target of the SDK: a target may have the missing members. */
function faultsOfOwn(data: BoardData): Faults {
	const { i2c, display: screen, touch, speaker, microphone, power, motion, rtc, light, expander, head } = data;
	const own = typeof touch === "object" ? touch : undefined;
	const isOnBus = (part: unknown, hasBus = false): boolean => part !== undefined && !hasBus && i2c === undefined;
	const codecs = [speaker, microphone].map((part) => (typeof part === "object" ? part.codec : undefined));
	return [
		...Object.entries({ display: screen, touch, power, motion }).map(
			([name, part]) => [typeof part === "object" && part.driver === undefined, `${name}.driver: missing`] as const,
		),
		[screen?.backlight === true, "display.backlight: expected a pin"],
		...Object.entries({ touch, speaker, microphone, power, motion, rtc }).map(
			([name, part]) =>
				[part === true, `${name}: expected its driver and pins; true is for boards that extend a target`] as const,
		),
		...Object.entries({ speaker, microphone }).map(
			([name, part]) =>
				[
					typeof part === "object" && (part.i2s === undefined) === (part.pdm === undefined),
					`${name}: expected either i2s or pdm`,
				] as const,
		),
		[
			typeof microphone === "object" && microphone.codec === "es7210" && microphone.i2s?.main === undefined,
			"microphone.i2s.main: missing: the es7210 needs the board's master clock",
		],
		[codecs.includes("aw88298"), "speaker.codec: aw88298 is for boards that extend a target, whose set-up opens it"],
		...CAMERA_PINS.map(
			(pin) => [data.camera !== undefined && cameraPins(data)[pin] === undefined, `camera.${pin}: missing`] as const,
		),
		[
			isOnBus(own, own?.i2c !== undefined) ||
				[power, motion, light, rtc, expander, head?.touch, ...codecs].some((part) => isOnBus(part)),
			"i2c: missing: touch screen and sensor, codec, power chip, motion and light sensor, clock and expander are on it",
		],
	];
}

/**
 * Checks the members of a board and their requirements.
 *
 * @param chip of the board, if it is known
 * @throws TypeError that names the member
 */
export function checkBoardData(data: BoardData, chip: string | undefined): void {
	const fault = BOARD("board", data);
	if (fault) {
		throw new TypeError(fault);
	}
	if (chip === undefined) {
		throw new TypeError(`board.chip: missing: expected ${CHIP_NAMES.join(", ")}, or extends with a target of the SDK`);
	}
	const reason =
		reasonOf(faultsOf(data, chip)) ?? (data.extends === undefined ? reasonOf(faultsOfOwn(data)) : undefined);
	if (reason !== undefined) {
		throw new TypeError(`board.${reason}`);
	}
}
