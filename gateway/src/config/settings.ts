import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { CATALOG_MODES } from "./catalog-mode.js";
import {
	flag,
	hostnames,
	hours,
	httpUrl,
	integer,
	list,
	nameInCluster,
	networks,
	oneOf,
	pairs,
	type SettingKind,
	scopesByValue,
	text,
	toolHints,
	url,
	urls,
} from "./setting-kinds.js";

/** One setting: its name in the file is its key in {@link SETTINGS}; flag and environment variable follow from it. */
interface Setting<T> extends SettingKind<T> {
	readonly description: string;
	/** Undefined: not set. */
	readonly default?: T;
}

/** Keeps the type of the value, and whether there is a default. */
function setting<T>(kind: SettingKind<T>, description: string, value: NoInfer<T>): Setting<T> & { readonly default: T };
function setting<T>(kind: SettingKind<T>, description: string): Setting<T>;
function setting<T>(kind: SettingKind<T>, description: string, value?: T): Setting<T> {
	return { ...kind, description, default: value };
}

const LOOPBACK = "127.0.0.1";
const PORT = integer("port", 0, 65_535);
const FILE: SettingKind<string> = { ...text("file"), path: true };
const FOLDER: SettingKind<string> = { ...text("folder"), path: true };
const PASSWORD: SettingKind<string> = { ...text("password"), secret: true };
const KEY: SettingKind<string> = { ...text("key"), secret: true };

/** A day: more is probably an error, and a timer cannot wait longer than 2^31 ms. */
const DURATION = integer("ms", 1, 86_400_000);

/** The folder that the operating system has for the state of programs. */
function defaultStateFolder(): string {
	if (process.platform === "win32") {
		return join(process.env.APPDATA ?? join(homedir(), "AppData", "Roaming"), "xs-mcp-gateway");
	}
	return join(process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "xs-mcp-gateway");
}

/** Every setting of the gateway, in the order in which `--help` and the documentation show them. */
const SETTINGS = {
	httpAddress: setting(text("address"), "Listen address", LOOPBACK),
	httpPort: setting(PORT, "Port; 0 for a free one", 8766),
	httpCert: setting(FILE, "TLS certificate (PEM)"),
	httpKey: setting(FILE, "Private key (PEM) of httpCert"),
	stdio: setting(flag, "Also serve one client over stdin and stdout", false),
	websocket: setting(flag, "Accept devices over WebSocket", true),
	websocketAddress: setting(text("address"), "Listen address", LOOPBACK),
	websocketPort: setting(PORT, "Port; 0 for a free one", 8765),
	websocketCert: setting(FILE, "TLS certificate (PEM)"),
	websocketKey: setting(FILE, "Private key (PEM) of websocketCert"),
	mqtt: setting(flag, "Accept devices over MQTT, with the gateway's own broker", false),
	mqttAddress: setting(text("address"), "Listen address of the gateway's broker", LOOPBACK),
	mqttPort: setting(PORT, "Port of the gateway's broker; 0 for a free one", 1883),
	mqttCert: setting(FILE, "TLS certificate (PEM) of the gateway's broker"),
	mqttKey: setting(FILE, "Private key (PEM) of mqttCert"),
	udpAddress: setting(text("address"), "Listen address for audio over UDP; default: mqttAddress"),
	udpPort: setting(PORT, "Port for audio over UDP; 0 for a free one", 1884),
	udpEndpoint: setting(text("host:port"), "UDP host and port that devices are told; required behind NAT"),
	brokerUrl: setting(url(["mqtt:", "mqtts:"]), "URL of another MQTT broker for devices"),
	brokerUsername: setting(text("name"), "User name for brokerUrl"),
	brokerPassword: setting(PASSWORD, "Password for brokerUrl"),
	brokerCa: setting(FILE, "CA certificates (PEM) for brokerUrl"),
	announce: setting(flag, "Announce the gateway on the local network (DNS-SD)", true),
	publicUrl: setting(httpUrl, "URL of the gateway, required behind a reverse proxy. With https, clients can sign in"),
	bootstrap: setting(
		oneOf("mode", ["open", "approve", "closed"]),
		"New devices at /xiaozhi/ota/: open (all), approve (you confirm each code), closed (none)",
		"closed",
	),
	websocketUrl: setting(url(["ws:", "wss:"]), "WebSocket URL in the bootstrap; required behind a reverse proxy"),
	mqttEndpoint: setting(text("host:port"), "MQTT host and port in the bootstrap; required behind a reverse proxy"),
	firmwareFolder: setting(FOLDER, "Folder with firmware for devices: MODEL_VERSION.bin"),
	maxPictureBytes: setting(integer("bytes", 1_024, 16_777_216), "Largest picture from a device", 2_097_152),
	visionUrl: setting(httpUrl, "Base URL of an OpenAI-compatible API for photos"),
	visionModel: setting(text("model"), "Model name at visionUrl"),
	visionKey: setting(KEY, "API key for visionUrl"),
	speechCommand: setting(
		text("command"),
		"Program that speaks: reads text, writes WAV; {voice} is the voice. Example: espeak-ng --stdout -v {voice}",
	),
	speechUrl: setting(httpUrl, "Base URL of an OpenAI-compatible API that speaks, instead of speechCommand"),
	speechModel: setting(text("model"), "Model name at speechUrl"),
	speechKey: setting(KEY, "API key for speechUrl"),
	speechVoices: setting(pairs("LANGUAGE=VOICE"), "Voices by language: en, ja, ko, ru, zh; * for any other", new Map()),
	speakTimers: setting(flag, "Say the text of a timer when it is due", false),
	quietHours: setting(hours, "Daily hours without speech: texts are shown. Example: 22:00-07:00"),
	microphones: setting(flag, "Let clients that may do so listen with the microphones of devices", false),
	transcriptionCommand: setting(
		text("command"),
		"Program that turns speech into text: reads WAV ({file} or its input), writes the text; {language} is the language",
	),
	transcriptionUrl: setting(
		httpUrl,
		"Base URL of an OpenAI-compatible API that does so, instead of transcriptionCommand",
	),
	transcriptionModel: setting(text("model"), "Model name at transcriptionUrl"),
	transcriptionKey: setting(KEY, "API key for transcriptionUrl"),
	transcriptionLanguage: setting(text("language"), "Language of the speech: en, ja, zh; default: any"),
	stateFolder: setting(FOLDER, "Folder for tokens and known devices", defaultStateFolder()),
	historyBytes: setting(
		integer("bytes", 0, 1_073_741_824),
		"Disk space for the readings, states and log of each device; 0: off",
		1_048_576,
	),
	auditBytes: setting(
		integer("bytes", 0, 10_737_418_240),
		"Disk space for the log of calls and changes; 0: off",
		16_777_216,
	),
	logLevel: setting(
		oneOf("level", ["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
		"Log level: trace, debug, info, warn, error, fatal, silent",
		"info",
	),
	serversFile: setting(FILE, "File of the servers (mcp-servers.json)"),
	managementTools: setting(
		oneOf("clients", ["off", "local", "all"]),
		"Who gets the management tools (off, local, all). Such a client can start any command on this machine",
		"off",
	),
	endpoints: setting({ ...urls(["ws:", "wss:"]), secret: true }, "MCP endpoints of hosted agents to connect to", []),
	aliases: setting(pairs("DEVICE=NAME"), "Aliases of devices, by device id", new Map()),
	userTools: setting(list("device"), "Devices whose user-only tools every client may call; * for all", []),
	toolHints: setting(
		toolHints,
		"Hints for tools without any, by own name: reads, sets, acts, destroys; * matches anything",
		new Map(),
	),
	catalog: setting(
		oneOf("mode", CATALOG_MODES),
		"Tool list: full, groups (shared tools once), search (finds others), auto (the first that fits)",
		"auto",
	),
	catalogLimit: setting(integer("tools", 0, 999_999), "Most tools in a list, if catalog is auto", 80),
	pinnedTools: setting(
		list("tool", 'names of tools, or beginnings of names with "*" at the end', z.string().regex(/^[^*]{0,128}\*?$/)),
		"Tools always listed, by full name; a trailing * matches any ending",
		[],
	),
	webhookHosts: setting(
		list("host:port"),
		"Hosts of webhooks (events) that may be at private addresses, and use http",
		[],
	),
	fetchHosts: setting(list("host"), "Hosts at private addresses that tools may have devices fetch from; * for any", []),
	homeAssistant: setting(url(["mqtt:", "mqtts:"]), "URL of Home Assistant's MQTT broker, with the user name"),
	homeAssistantPassword: setting(PASSWORD, "Password for homeAssistant"),
	homeAssistantCa: setting(FILE, "CA certificates (PEM) for homeAssistant"),
	open: setting(flag, "Allow access without tokens after the last one was removed", false),
	allowedHosts: setting(hostnames, "Additional hostnames of the gateway", []),
	allowedOrigins: setting(hostnames, "Hostnames of websites that may use the gateway", []),
	trustProxy: setting(networks, "Reverse proxies whose X-Forwarded-For is trusted", []),
	issuer: setting(httpUrl, "Issuer of access tokens (JWT), instead of the gateway's own sign-in"),
	issuerAudiences: setting(list("name"), "Accepted audiences of the issuer's tokens, besides publicUrl with /mcp", []),
	issuerTokenTypes: setting(
		list("type"),
		"Accepted types (header typ) of the issuer's access tokens; default: at+jwt",
		["at+jwt"],
	),
	issuerClaims: setting(list("claim"), "Claims that hold scopes, roles or groups; default: scope and scp", [
		"scope",
		"scp",
	]),
	issuerScopes: setting(scopesByValue, "Scopes of a role or group in these claims", new Map()),
	cluster: setting(url(["nats:", "tls:"]), "URL of a NATS server with JetStream"),
	clusterName: setting(nameInCluster, "Name of this gateway; default: the hostname"),
	clusterPrefix: setting(nameInCluster, "Name of the cluster in NATS, for two clusters on one NATS", "xsmcp"),
	clusterCredentials: setting(FILE, "Credentials file (JWT and NKey) for cluster"),
	clusterPassword: setting(PASSWORD, "Password or token for cluster, if its URL has none"),
	clusterCa: setting(FILE, "CA certificates (PEM) for cluster"),
	clusterReplicas: setting(integer("servers", 1, 5), "NATS servers that keep a copy of the data", 1),
	callTimeout: setting(DURATION, "Time limit for a call to a device, and for its turn", 30_000),
	offlineWait: setting(integer("ms", 0, 86_400_000), "Time that a call waits for an offline device", 10_000),
	callsPerDevice: setting(integer("calls", 1, 1_000), "Calls in progress per device", 4),
	maxDevices: setting(integer("devices", 1, 1_000_000), "Devices that the gateway remembers", 10_000),
	maxSessions: setting(integer("sessions", 1, 1_000_000), "Concurrent sessions of clients", 1_000),
	sessionIdleTimeout: setting(DURATION, "Time after which an unused session leaves the memory", 1_800_000),
	maxBodyBytes: setting(integer("bytes", 1_024, 104_857_600), "Largest request from a client", 1_048_576),
	drainTime: setting(integer("ms", 0, 86_400_000), "Time for calls in progress when the gateway stops", 3_000),
	maxRequestsPerMinute: setting(
		integer("requests", 0, 1_000_000_000),
		"Requests per minute with one token or from one address; 0: no limit",
		6_000,
	),
	maxWrongTokensPerMinute: setting(
		integer("requests", 1, 1_000_000_000),
		"Wrong tokens per minute from one address; then 429",
		20,
	),
} as const;

/** The titles of groups in `--help` and the documentation: each group begins with this setting and ends before the next. */
export const SETTING_GROUPS: ReadonlyMap<SettingName, string> = new Map([
	["httpAddress", "MCP clients"],
	["websocket", "Devices over WebSocket"],
	["mqtt", "Devices over MQTT"],
	["announce", "How devices find the gateway"],
	["maxPictureBytes", "Photos and pictures"],
	["speechCommand", "Speech"],
	["stateFolder", "State and log"],
	["serversFile", "Other MCP servers and hosted agents"],
	["aliases", "Devices and tools that clients see"],
	["homeAssistant", "Home Assistant"],
	["open", "Access"],
	["issuer", "Sign-in with OAuth"],
	["cluster", "Several gateways"],
	["callTimeout", "Limits"],
]);

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

/** A setting of any type. */
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
