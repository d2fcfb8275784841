import { homedir } from "node:os";
import { join } from "node:path";
import { flag, hostNames, integer, list, oneOf, pairs, type SettingKind, text, url } from "./setting-kinds.js";

/** One setting: its name in the file is its key in {@link SETTINGS}; flag and environment variable follow from it. */
export interface Setting<T> {
	readonly kind: SettingKind<T>;
	/** Undefined: not set. */
	readonly default?: T;
	readonly description: string;
	/** Never printed, and no flag, since other users of the machine see a command line. */
	readonly secret?: boolean;
	/** A path: one in the file is relative to the file's folder. */
	readonly path?: boolean;
}

/** Keeps the type of the value, and of whether there always is one. */
function setting<T>(
	kind: SettingKind<T>,
	description: string,
	more: { readonly default: NoInfer<T>; readonly path?: boolean },
): Setting<T> & { readonly default: T };
function setting<T>(
	kind: SettingKind<T>,
	description: string,
	more?: { readonly secret?: boolean; readonly path?: boolean },
): Setting<T>;
function setting<T>(kind: SettingKind<T>, description: string, more = {}): Setting<T> {
	return { kind, description, ...more };
}

const LOOPBACK = "127.0.0.1";
const PORT = integer("port", 0, 65_535);
const FILE = text("file");

/** A day: more is a mistake. Also, a timer cannot wait longer than 2^31 ms. */
const DURATION = integer("ms", 1, 86_400_000);

/** Where the gateway keeps what it has to remember: the place that the operating system has for such things. */
function defaultStateFolder(): string {
	if (process.platform === "win32") {
		return join(process.env.APPDATA ?? join(homedir(), "AppData", "Roaming"), "xs-mcp-gateway");
	}
	return join(process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "xs-mcp-gateway");
}

/** Every setting of the gateway, in the order in which `--help` and the documentation show them. */
export const SETTINGS = {
	httpAddress: setting(text("address"), "Where MCP hosts are listened for", { default: LOOPBACK }),
	httpPort: setting(PORT, "… and on which port; 0 for a free one", { default: 8766 }),
	httpCert: setting(FILE, "TLS certificate (PEM) for hosts", { path: true }),
	httpKey: setting(FILE, "… and its private key", { path: true }),
	stdio: setting(flag, "Serve one more host over standard input and output", { default: false }),
	websocket: setting(flag, "Accept devices over WebSocket", { default: true }),
	websocketAddress: setting(text("address"), "Where devices are listened for over WebSocket", { default: LOOPBACK }),
	websocketPort: setting(PORT, "… and on which port", { default: 8765 }),
	websocketCert: setting(FILE, "TLS certificate (PEM) for devices over WebSocket", { path: true }),
	websocketKey: setting(FILE, "… and its private key", { path: true }),
	mqtt: setting(flag, "Accept devices over MQTT, with a broker of the gateway's own", { default: false }),
	mqttAddress: setting(text("address"), "Where that broker listens", { default: LOOPBACK }),
	mqttPort: setting(PORT, "… and on which port", { default: 1883 }),
	mqttCert: setting(FILE, "TLS certificate (PEM) for devices over MQTT", { path: true }),
	mqttKey: setting(FILE, "… and its private key", { path: true }),
	brokerUrl: setting(url(["mqtt:", "mqtts:"]), "Accept devices through this MQTT broker"),
	brokerUsername: setting(text("name"), "… as this user"),
	brokerPassword: setting(text("password"), "… with this password", { secret: true }),
	brokerCa: setting(FILE, "… whose certificate these authorities (PEM) vouch for", { path: true }),
	stateFolder: setting(text("folder"), "Where tokens and the devices' tools are kept", {
		default: defaultStateFolder(),
		path: true,
	}),
	aliases: setting(pairs("DEVICE=NAME"), "What hosts call a device", { default: new Map() }),
	userTools: setting(list("device"), "Devices whose user-only tools every host sees; * for all", { default: [] }),
	toolNames: setting(oneOf("names", ["own", "portable"]), "Names of the tools of a device that is alone in a list", {
		default: "own",
	}),
	allowedHosts: setting(hostNames, "Names, besides its own, by which hosts may address the gateway", {
		default: [],
	}),
	allowedOrigins: setting(hostNames, "Sites, besides this machine's, whose pages may use the gateway", {
		default: [],
	}),
	callTimeout: setting(DURATION, "Time for a call to a device", { default: 30_000 }),
	awayWait: setting(integer("ms", 0, 86_400_000), "How long a call waits for a device that is away", {
		default: 10_000,
	}),
	callsPerDevice: setting(integer("calls", 1, 1_000), "Calls that one device works on at the same time", {
		default: 4,
	}),
	callsWaiting: setting(integer("calls", 0, 100_000), "Calls that may wait for one device", { default: 64 }),
	maxDevices: setting(integer("devices", 1, 1_000_000), "Devices that may be known", { default: 10_000 }),
	maxSessions: setting(integer("sessions", 1, 1_000_000), "Sessions of hosts", { default: 1_000 }),
	sessionIdleTimeout: setting(DURATION, "When a host's session that is not used ends", { default: 1_800_000 }),
	maxBodyBytes: setting(integer("bytes", 1_024, 104_857_600), "Size of a host's request", { default: 1_048_576 }),
	bodyTimeout: setting(DURATION, "Time for a host's request to arrive", { default: 10_000 }),
	maxRequestsPerMinute: setting(
		integer("requests", 0, 1_000_000_000),
		"Requests of hosts from one address in a minute; 0 for no limit",
		{ default: 6_000 },
	),
	maxWrongTokensPerMinute: setting(
		integer("requests", 1, 1_000_000_000),
		"Wrong tokens from one address in a minute, after which it is refused for the rest of it",
		{ default: 20 },
	),
	logLevel: setting(oneOf("level", ["trace", "debug", "info", "warn", "error", "fatal", "silent"]), "What is logged", {
		default: "info",
	}),
} as const;

type Settings = typeof SETTINGS;
export type SettingName = keyof Settings;

/** The gateway's settings, each with a value or its default. */
export type Configuration = {
	readonly [Name in SettingName]: Settings[Name] extends { readonly default: infer T }
		? T
		: Settings[Name] extends Setting<infer T>
			? T | undefined
			: never;
};

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** A setting, whatever its type. */
export function settingOf(name: SettingName): Setting<unknown> {
	return SETTINGS[name];
}

/** The flag of a setting: `--http-port`. */
export function flagOf(name: SettingName): string {
	return `--${words(name).join("-")}`;
}

/** The environment variable of a setting: `XS_MCP_GATEWAY_HTTP_PORT`. */
export function variableOf(name: SettingName): string {
	return `XS_MCP_GATEWAY_${words(name).join("_").toUpperCase()}`;
}

function words(name: string): string[] {
	return name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
}
