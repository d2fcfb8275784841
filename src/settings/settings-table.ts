import type { WiFiAccess } from "../hardware/wifi-setup.js";
import { deepFreeze } from "../text/deep-freeze.js";
import type { StaticAddress } from "./wifi-settings.js";

/** The format of a text, besides its length. */
export type Format = "visible" | "printable" | "line" | "http-url" | "topic" | "uuid";

interface Described {
	/** Only the firmware's build sets it; a stored value is ignored. */
	readonly builtOnly?: true;
	/** The set-up page has a field for it. */
	readonly onPage?: true;
}

/** A text. A secret is never quoted in an error. */
export interface TextRule extends Described {
	readonly kind: "text" | "secret";
	readonly default?: string;
	readonly format?: Format;
	/** Characters. */
	readonly maxLength?: number;
	/** Bytes in UTF-8. An empty text may be shorter. */
	readonly minBytes?: number;
	readonly maxBytes?: number;
}

/** A whole number. It may be written as a string, because every value on mcconfig's command line is one. */
export interface IntegerRule extends Described {
	readonly kind: "integer";
	/** For messages: "seconds", "bytes". */
	readonly unit?: string;
	readonly min: number;
	readonly max: number;
	/** Whether 0 is allowed below `min`. */
	readonly orZero?: true;
	readonly default?: number;
}

/** One of some strings or numbers; a number, too, may be written as a string. */
interface ChoiceRule extends Described {
	readonly kind: "choice";
	readonly choices: readonly (string | number)[];
	readonly default: string | number;
}

/** Several of some words, with commas between them. */
interface ChoicesRule extends Described {
	readonly kind: "choices";
	readonly choices: readonly string[];
	readonly default: readonly string[];
}

interface FlagRule extends Described {
	readonly kind: "flag";
}

/** A secret key as hexadecimal digits. Never quoted. */
interface HexRule extends Described {
	readonly kind: "hex";
	readonly maxBytes: number;
}

/** Public keys of P-256 as hexadecimal digits, with commas between them: uncompressed points (SEC 1, §2.3.3). */
interface PublicKeysRule extends Described {
	readonly kind: "p256-keys";
}

/** Networks and their passwords. Never quoted. */
interface NetworksRule extends Described {
	readonly kind: "networks";
}

/** A fixed IPv4 address with its network. */
interface StaticAddressRule extends Described {
	readonly kind: "static-address";
}

export type Rule =
	| TextRule
	| IntegerRule
	| ChoiceRule
	| ChoicesRule
	| FlagRule
	| HexRule
	| PublicKeysRule
	| NetworksRule
	| StaticAddressRule;

const DAY = 86_400;
/** Seconds that a timer can wait. */
const MAX_TIMER = 2_000_000;
const MAX_16_BITS = 65_535;
const SECONDS = { kind: "integer", unit: "seconds" } as const;

/**
 * Every setting of the firmware: what it may be, its default, and in its comment what it is for, which is not stored in a chip's flash.
 * docs/moddable.md has the same table, which a test compares with this one.
 */
export const SETTINGS = deepFreeze({
	/** Wi-Fi network; if empty, the device is set up with a phone */
	ssid: { kind: "text", default: "", maxBytes: 32, onPage: true },
	/** password of the Wi-Fi; empty for an open network */
	password: { kind: "secret", default: "", minBytes: 8, maxBytes: 64, onPage: true },
	/** further networks: of all in range the strongest is joined; set-up adds the one that it replaces */
	networks: { kind: "networks" },
	/** fixed address in the network `ssid`; without a DNS server the gateway is asked @default DHCP */
	staticAddress: { kind: "static-address" },
	/**
	 * `ws://`, `wss://`, `mqtt://` or `mqtts://`; `mdns:` finds a gateway on the local network, `mdns:HOST` a certain one
	 * @default `mdns:` in a build with `discovery`; in the simulator `ws://127.0.0.1:8765/`
	 */
	backend: { kind: "text", onPage: true },
	/** where the device asks for its backend, instead of `backend` */
	otaUrl: { kind: "text", default: "", format: "http-url", onPage: true },
	/** WebSocket: the bearer token */
	token: { kind: "secret", default: "", format: "line", onPage: true },
	/**
	 * device name for clients
	 * @default the board's
	 */
	name: { kind: "text", default: "", maxLength: 32, onPage: true },
	/**
	 * language of the device's own words
	 * @default that of the phone that set it up, else `en`
	 */
	language: { kind: "choice", choices: ["en", "ja", "zh"], default: "en", onPage: true },
	/**
	 * UUID, for which backends sign tokens; replaces the stored one
	 * @default made once and kept
	 */
	uuid: { kind: "text", format: "uuid" },
	/** `on-demand`: a session only while one is needed; the backend cannot call the device otherwise */
	session: { kind: "choice", choices: ["always", "on-demand"], default: "always" },
	/** how a person's turn ends: `auto`: the backend detects it, `manual`: by a press, `realtime`: both speak at once */
	listenMode: { kind: "choice", choices: ["auto", "manual", "realtime"], default: "auto" },
	/** events that the device tells the backend's model in words */
	events: { kind: "choices", choices: ["button", "sensor", "timer"], default: [] },
	/**
	 * whether a device without a codec names an audio format in its hello: `false` asks for no speech, but some backends require the format
	 * @default `true`
	 */
	audioParams: { kind: "flag" },
	/** WebSocket: framing of binary audio */
	protocolVersion: { kind: "choice", choices: [1, 2, 3], default: 1 },
	/**
	 * MQTT: client id
	 * @default the MAC address
	 */
	clientId: { kind: "text" },
	/** MQTT: user name */
	mqttUsername: { kind: "text", default: "" },
	/** MQTT: password; needs a user name */
	mqttPassword: { kind: "secret", default: "" },
	/** MQTT: keep-alive interval */
	keepAlive: { ...SECONDS, min: 1, max: MAX_16_BITS, default: 240 },
	/**
	 * MQTT: topic of the device's messages
	 * @default `xs-mcp/CLIENT_ID/up`
	 */
	publishTopic: { kind: "text", format: "topic" },
	/**
	 * MQTT: topic of the backend's messages; empty: no subscription
	 * @default `xs-mcp/CLIENT_ID/down`
	 */
	subscribeTopic: { kind: "text" },
	/** port for MCP clients without a gateway */
	http: { kind: "integer", min: 1, max: MAX_16_BITS },
	/** token of these clients */
	httpToken: { kind: "secret", default: "", format: "visible" },
	/** interval of checks at `otaUrl`; 0: only at the start */
	otaInterval: { ...SECONDS, min: 60, max: MAX_TIMER, orZero: true, default: DAY },
	/** activation: the manufacturer's serial number, sent as a header */
	serialNumber: { kind: "text", default: "", format: "visible", maxBytes: 64 },
	/** activation: the key that proves the serial number */
	hmacKey: { kind: "hex", maxBytes: 64 },
	/** time in which new firmware must reach its backend */
	updateTrial: { ...SECONDS, min: 1, max: DAY, default: 300 },
	/** public keys for signed images; images that none of them has signed are rejected */
	updateKey: { kind: "p256-keys", builtOnly: true },
	/** whether updates to an older version are rejected @default `false` */
	refuseDowngrades: { kind: "flag", builtOnly: true },
	/** password of the network for the set-up */
	setupPassword: { kind: "secret", default: "", format: "printable", minBytes: 8, maxBytes: 63 },
	/** time without a network until the set-up begins; 0: never */
	setupAfter: { ...SECONDS, min: 0, max: DAY, default: 180 },
	/** time after which an unused set-up ends */
	setupTime: { ...SECONDS, min: 60, max: DAY, default: 300 },
	/** simulator and virtual devices only: port of the set-up page */
	setupPort: { kind: "integer", min: 1, max: MAX_16_BITS },
	/**
	 * time without use until the screen is dimmed; 0: never
	 * @default `60` on a board with a battery, else `0`
	 */
	screenDim: { ...SECONDS, min: 0, max: DAY },
	/**
	 * time without use until the screen is off; 0: never
	 * @default `300` on a board with a battery, else `0`
	 */
	screenOff: { ...SECONDS, min: 0, max: DAY },
	/** time without use or session until deep sleep; 0: never */
	sleepAfter: { ...SECONDS, min: 10, max: DAY, orZero: true, default: 0 },
	/** duration of deep sleep; 0: until a button or touch */
	wakeAfter: { ...SECONDS, min: 1, max: MAX_TIMER, orZero: true, default: 0 },
	/** battery level below which the device sleeps until it is charged; it looks each hour, or after `wakeAfter`. 0: never */
	sleepBelow: { kind: "integer", unit: "percent", min: 1, max: 50, orZero: true, default: 0 },
	/** time without backend or network after which a device that had them restarts once, unless a relay is on; 0: never */
	restartAfter: { ...SECONDS, min: 60, max: DAY, orZero: true, default: 3_600 },
	/** power save of the Wi-Fi: `off` answers fastest, `max` sleeps longest */
	wifiPowerSave: { kind: "choice", choices: ["off", "min", "max"], default: "min" },
	/** time server */
	ntp: { kind: "text", default: "pool.ntp.org" },
	/** resource with an additional trusted CA certificate (DER) */
	certificate: { kind: "text", default: "", builtOnly: true },
	/**
	 * size of `creation.chunk.initial`, which limits the length of messages
	 * @default 65,536; 262,144 with PSRAM
	 */
	chunkBytes: { kind: "integer", unit: "bytes", min: 32_768, max: 0x7fff_ffff, default: 524_288, builtOnly: true },
} as const satisfies Readonly<Record<string, Rule>>);

export type SettingName = keyof typeof SETTINGS;

/** The type of a setting's value. Only one with a default is never undefined. */
export type SettingValue<Name extends SettingName> =
	| Parsed<(typeof SETTINGS)[Name]>
	| ((typeof SETTINGS)[Name] extends { readonly default: unknown } ? never : undefined);

type Parsed<R extends Rule> = R extends { readonly choices: readonly (infer Choice)[] }
	? R extends ChoicesRule
		? readonly Choice[]
		: Choice
	: R extends IntegerRule
		? number
		: R extends FlagRule
			? boolean
			: R extends HexRule
				? ArrayBuffer
				: R extends PublicKeysRule
					? readonly ArrayBuffer[]
					: R extends NetworksRule
						? readonly WiFiAccess[]
						: R extends StaticAddressRule
							? StaticAddress
							: string;
