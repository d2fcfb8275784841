import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import {
	CATALOG_MODES,
	FILE,
	FOLDER,
	flag,
	hostnames,
	httpUrl,
	inGroup,
	integer,
	LOOPBACK,
	list,
	networks,
	oneOf,
	type Plugin,
	PORT,
	pairs,
	requiring,
	SETTING_GROUPS,
	type Setting,
	type Settings,
	scopesByValue,
	setting,
	text,
	toolHints,
	type ValuesOf,
} from "../plugin.js";
import { PLUGINS } from "../plugins.js";

/** A day: more is probably an error, and a timer cannot wait longer than 2^31 ms. */
const DURATION = integer("ms", 1, 86_400_000);

/** Returns the folder that the operating system has for the state of programs. */
function defaultStateFolder(): string {
	if (process.platform === "win32") {
		return join(process.env.APPDATA ?? join(homedir(), "AppData", "Roaming"), "xs-mcp-gateway");
	}
	return join(process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "xs-mcp-gateway");
}

/** The settings that belong to no plugin. */
const CORE = {
	...inGroup("MCP clients", {
		httpAddress: setting(text("address"), "Listen address", LOOPBACK),
		httpPort: setting(PORT, "Port; 0 for a free one", 8766),
		httpCert: requiring(["httpKey"], setting(FILE, "TLS certificate (PEM)")),
		httpKey: requiring(["httpCert"], setting(FILE, "Private key (PEM) of httpCert")),
		stdio: setting(flag, "Also serve one client over stdin and stdout", false),
	}),
	...inGroup("How devices find the gateway", {
		publicUrl: setting(httpUrl, "URL of the gateway, required behind a reverse proxy. With https, clients can sign in"),
	}),
	...inGroup("State and log", {
		stateFolder: setting(FOLDER, "Folder for tokens and known devices", defaultStateFolder()),
		plugins: setting({ ...list("file"), path: true }, "Modules of your own plugins", []),
		logLevel: setting(
			oneOf("level", ["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
			"Log level: trace, debug, info, warn, error, fatal, silent",
			"info",
		),
	}),
	...inGroup("Devices and tools that clients see", {
		aliases: setting(pairs("DEVICE=NAME"), "Aliases of devices, by device id", new Map()),
		userTools: setting(list("id"), "Ids of devices whose user-only tools every client may call; * for all", []),
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
		fetchHosts: setting(
			list("host"),
			"Hosts at private addresses that tools may have devices fetch from; * for any",
			[],
		),
	}),
	...inGroup("Access", {
		open: setting(flag, "Allow access without tokens after the last one was removed", false),
		allowedHosts: setting(hostnames, "Additional hostnames of the gateway", []),
		allowedOrigins: setting(hostnames, "Hostnames of websites that may use the gateway", []),
		trustProxy: setting(networks, "Reverse proxies whose X-Forwarded-For is trusted", []),
	}),
	...inGroup("Sign-in with OAuth", {
		issuer: setting(httpUrl, "Issuer of access tokens (JWT), instead of the gateway's own sign-in"),
		issuerAudiences: setting(
			list("name"),
			"Accepted audiences of the issuer's tokens, in addition to publicUrl with /mcp",
			[],
		),
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
	}),
	...inGroup("Limits", {
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
	}),
};

type Declared<P> = P extends { readonly settings: infer S } ? S : never;
type Joined<S> = (S extends unknown ? (each: S) => void : never) extends (all: infer All) => void ? All : never;
type AllSettings = typeof CORE & Joined<Declared<(typeof PLUGINS)[number]>>;

/** Every setting of the gateway and of the plugins that it comes with, in the order of `--help`. */
export const SETTINGS = inOrder(
	Object.assign({}, CORE, ...PLUGINS.map((plugin: Plugin) => plugin.settings)),
) as AllSettings;

export type SettingName = keyof AllSettings;

/** The gateway's settings, each with a value or its default. An interface, because its members are resolved late: plugins use it. */
export interface Configuration extends ValuesOf<AllSettings> {}

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

function inOrder(settings: Settings): Settings {
	return Object.fromEntries(
		SETTING_GROUPS.flatMap((group) => Object.entries(settings).filter(([, each]) => each.group === group)),
	);
}

/** Returns a setting of any type. */
export function settingOf(name: SettingName): Setting<unknown> {
	return SETTINGS[name];
}
