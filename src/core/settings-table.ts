import type { WiFiAccess } from "../hardware/wifi-setup.js";
import { deepFreeze } from "./text/deep-freeze.js";
import type { StaticAddress } from "./wifi-settings.js";

/** The types of values by the kind of a setting. Those of "choice" and "choices" are in its rule. */
interface Values {
	text: string;
	/** A text that is never quoted in an error. */
	secret: string;
	/** A whole number. It may be written as a string, because every value on mcconfig's command line is one. */
	integer: number;
	flag: boolean;
	/** A secret key as hexadecimal digits. Never quoted. */
	hex: ArrayBuffer;
	/** Public keys as hexadecimal digits, with commas between them: uncompressed points (SEC 1, §2.3.3). */
	"p256-keys": readonly ArrayBuffer[];
	/** Networks and their passwords. Never quoted. */
	networks: readonly WiFiAccess[];
	/** A fixed IPv4 address with its network. */
	"static-address": StaticAddress;
}

/** How a setting is read. */
export interface Rule {
	/** "choice": one of some strings or numbers; "choices": several of some words, with commas between them. */
	readonly kind: keyof Values | "choice" | "choices";
	readonly default?: string | number | readonly string[];
	/** Only the firmware's build sets it; a stored value is ignored. */
	readonly builtOnly?: true;
	/** The set-up page sends it. */
	readonly onPage?: true;
	/** The format of a text, in addition to its length. */
	readonly format?: "visible" | "printable" | "line" | "http-url" | "topic" | "uuid";
	/** Characters of a text. */
	readonly maxLength?: number;
	/** Bytes of a text in UTF-8, or of a key. An empty text may be shorter. */
	readonly minBytes?: number;
	readonly maxBytes?: number;
	/** Unit of a number, for messages: "seconds", "bytes". */
	readonly unit?: string;
	readonly min?: number;
	readonly max?: number;
	/** Whether 0 is allowed below `min`. */
	readonly orZero?: true;
	readonly choices?: readonly (string | number)[];
}

const DAY = 86_400;
/** Seconds that a timer can wait. */
const MAX_TIMER = 2_000_000;
const MAX_16_BITS = 65_535;
const SECONDS = { kind: "integer", unit: "seconds" } as const;

/** Every setting of the firmware. docs/moddable.md says what each is for, and what happens without a default. */
export const SETTINGS = deepFreeze({
	ssid: { kind: "text", default: "", maxBytes: 32, onPage: true },
	password: { kind: "secret", default: "", minBytes: 8, maxBytes: 64, onPage: true },
	networks: { kind: "networks" },
	staticAddress: { kind: "static-address" },
	backend: { kind: "text", onPage: true },
	otaUrl: { kind: "text", default: "", format: "http-url", onPage: true },
	token: { kind: "secret", default: "", format: "line", onPage: true },
	name: { kind: "text", default: "", maxLength: 32, onPage: true },
	language: { kind: "choice", choices: ["en", "ja", "zh"], default: "en", onPage: true },
	uuid: { kind: "text", format: "uuid" },
	session: { kind: "choice", choices: ["always", "on-demand"], default: "always" },
	listenMode: { kind: "choice", choices: ["auto", "manual", "realtime"], default: "auto" },
	events: { kind: "choices", choices: ["button", "sensor", "timer"], default: [] },
	audioParams: { kind: "flag" },
	protocolVersion: { kind: "choice", choices: [1, 2, 3], default: 1 },
	clientId: { kind: "text" },
	mqttUsername: { kind: "text", default: "" },
	mqttPassword: { kind: "secret", default: "" },
	keepAlive: { ...SECONDS, min: 1, max: MAX_16_BITS, default: 240 },
	publishTopic: { kind: "text", format: "topic" },
	subscribeTopic: { kind: "text" },
	http: { kind: "integer", min: 1, max: MAX_16_BITS },
	httpToken: { kind: "secret", default: "", format: "visible" },
	otaInterval: { ...SECONDS, min: 60, max: MAX_TIMER, orZero: true, default: DAY },
	serialNumber: { kind: "text", default: "", format: "visible", maxBytes: 64 },
	hmacKey: { kind: "hex", maxBytes: 64 },
	updateTrial: { ...SECONDS, min: 1, max: DAY, default: 300 },
	updateKey: { kind: "p256-keys", builtOnly: true },
	refuseDowngrades: { kind: "flag", builtOnly: true },
	setupPassword: { kind: "secret", default: "", format: "printable", minBytes: 8, maxBytes: 63 },
	setupAfter: { ...SECONDS, min: 0, max: DAY, default: 180 },
	setupPort: { kind: "integer", min: 1, max: MAX_16_BITS },
	screenDim: { ...SECONDS, min: 0, max: DAY },
	screenOff: { ...SECONDS, min: 0, max: DAY },
	sleepAfter: { ...SECONDS, min: 10, max: DAY, orZero: true, default: 0 },
	wakeAfter: { ...SECONDS, min: 1, max: MAX_TIMER, orZero: true, default: 0 },
	sleepBelow: { kind: "integer", unit: "percent", min: 1, max: 50, orZero: true, default: 0 },
	restartAfter: { ...SECONDS, min: 60, max: DAY, orZero: true, default: 3_600 },
	wifiPowerSave: { kind: "choice", choices: ["off", "min", "max"], default: "min" },
	timezone: { kind: "text", default: "", maxLength: 64, onPage: true },
	ntp: { kind: "text", default: "pool.ntp.org" },
	certificate: { kind: "text", default: "", builtOnly: true },
	chunkBytes: { kind: "integer", unit: "bytes", min: 32_768, max: 0x7fff_ffff, default: 524_288, builtOnly: true },
} as const satisfies Readonly<Record<string, Rule>>);

export type SettingName = keyof typeof SETTINGS;

/** The type of a setting's value. It includes undefined unless the setting has a default. */
export type SettingValue<Name extends SettingName> =
	| Parsed<(typeof SETTINGS)[Name]>
	| ((typeof SETTINGS)[Name] extends { readonly default: unknown } ? never : undefined);

type Parsed<R extends Rule> = R extends { readonly kind: infer Kind; readonly choices: readonly (infer Choice)[] }
	? Kind extends "choices"
		? readonly Choice[]
		: Choice
	: Values[R["kind"] & keyof Values];

/** Names in `config` that the SDK's own modules read, and those of the virtual device. */
const FOREIGN: readonly string[] = Object.freeze(
	(
		"backlight brightness button_pin camera driverRotation enablePowerButton file format httpAddress lcd_pin led led_pin " +
		"mdnsInterface rotation screen sntp startupSound startupVibration tls touch virtualButton"
	).split(" "),
);

/** Names in the manifest's `config` that no setting has: misspelled, or a project's own. */
export const unknownSettings = (built: Readonly<Record<string, unknown>>): readonly string[] =>
	Object.keys(built).filter((name) => !Object.hasOwn(SETTINGS, name) && !FOREIGN.includes(name));
