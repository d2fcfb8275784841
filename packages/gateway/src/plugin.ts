import { isObject } from "xs-mcp-firmware/core/text/json";
import * as z from "zod";
import { isScope, SCOPES } from "./config/access.js";
import type { Configuration } from "./config/settings.js";
import type { RunningGateway } from "./gateway.js";
import { GatewayError } from "./gateway-error.js";

/** A feature of the gateway: one that it comes with, or an operator's own. */
export interface Plugin<Value = unknown> {
	/** Unique among the plugins of a gateway. */
	readonly name: string;
	/** Their names are unique among all settings. */
	readonly settings?: Settings;
	/** Returns the problems of its settings, one line each. Called before anything starts. */
	readonly check?: (settings: Configuration) => readonly string[];
	/** Adds the feature. Returns the value that other plugins get from {@link RunningGateway.use}. */
	readonly setup: (gateway: RunningGateway) => Promise<Value> | Value;
}

/**
 * Declares a plugin. Every command reads the settings, so a plugin's module loads heavy modules in `setup` only. `setup` and `check` need
 * the types of their results: the type of all settings is derived from the plugins.
 */
export function definePlugin<const P extends Plugin>(plugin: P): P {
	return plugin;
}

/**
 * Effect of a tool. "reads": it changes nothing. "sets": twice is the same as once, and nothing is lost.
 * "acts": it does something each time. "destroys": its effect cannot be undone by another call.
 */
const TOOL_HINTS = ["reads", "sets", "acts", "destroys"] as const;

export type ToolHint = (typeof TOOL_HINTS)[number];

/** The values of a setting, and their notation in a flag, an environment variable and the file. */
export interface SettingKind<T> {
	/** Placeholder of the value in `--help`: "port", "ms". Absent: the flag takes no value. */
	readonly placeholder?: string;
	/** Whether the flag can be repeated. */
	readonly repeatable?: boolean;
	/** The allowed values, for `--help`: "0 to 65535". Absent: any, or the description names them. */
	readonly range?: string;
	/** The expected value, for the error: "a whole number from 0 to 65535". */
	readonly expected: string;
	/** Whether it is never printed, and has no flag, because other users of the machine can see command lines. */
	readonly secret?: boolean;
	/** Returns what is printed of the value. Default: all but secrets in URLs. */
	shown?(value: T): unknown;
	/** Whether it is a path. One in the file is relative to the file's folder. */
	readonly path?: boolean;
	/** Reads the value from text, or from JSON. */
	readonly schema: z.ZodType<T>;
}

/** A setting: the key in its table is its name in the file; flag and environment variable follow from that. */
export interface Setting<T> extends SettingKind<T> {
	readonly description: string;
	/** Undefined: not set. */
	readonly default?: T;
	/** Settings without which it has no effect. */
	readonly requires?: readonly string[];
	/** Its title in `--help` and the documentation. Undefined: it has no flag. */
	readonly group?: SettingGroup;
}

/** Settings by name. */
// biome-ignore lint/suspicious/noExplicitAny: a table holds settings of any type.
export type Settings = Readonly<Record<string, Setting<any>>>;

/** Values of a table of settings. */
export type ValuesOf<S> = {
	readonly [Name in keyof S]: S[Name] extends { readonly default: infer T }
		? T
		: S[Name] extends Setting<infer T>
			? T | undefined
			: never;
};

/** The groups of settings, in the order of `--help`. */
export const SETTING_GROUPS = [
	"MCP clients",
	"Devices over WebSocket",
	"Devices over MQTT",
	"How devices find the gateway",
	"Photos and pictures",
	"Speech",
	"State and log",
	"Other MCP servers and hosted agents",
	"Devices and tools that clients see",
	"Home Assistant",
	"Access",
	"Sign-in with OAuth",
	"Several gateways",
	"Limits",
	"Your own plugins",
] as const;

type SettingGroup = (typeof SETTING_GROUPS)[number];

/** Declares a setting, with the type of its value and whether it has a default. */
export function setting<T>(
	kind: SettingKind<T>,
	description: string,
	value: NoInfer<T>,
): Setting<T> & { readonly default: T };
export function setting<T>(kind: SettingKind<T>, description: string): Setting<T>;
export function setting<T>(kind: SettingKind<T>, description: string, value?: T): Setting<T> {
	return { ...kind, description, default: value };
}

/** Puts settings into a group. */
export function inGroup<S extends Settings>(group: SettingGroup, settings: S): S {
	return Object.fromEntries(Object.entries(settings).map(([name, each]) => [name, { ...each, group }])) as S;
}

/** Declares that a setting has no effect without others. */
export function requiring<S extends Setting<unknown>>(requires: readonly string[], declared: S): S {
	return { ...declared, requires };
}

/** Returns the flag of a setting: `--http-port`. */
export function flagOf(name: string): string {
	return `--${words(name).join("-")}`;
}

/** Returns the environment variable of a setting: `XS_MCP_GATEWAY_HTTP_PORT`. */
export function variableOf(name: string): string {
	return `XS_MCP_GATEWAY_${words(name).join("_").toUpperCase()}`;
}

function words(name: string): string[] {
	return name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
}

/** Reads a setting's value. @throws Error that goes on from its name: `expected a whole number from 0 to 65535, got "x"` */
export function readValue<T>({ schema, expected }: SettingKind<T>, value: unknown): T {
	const { success, data } = schema.safeParse(value);
	if (!success) {
		throw new Error(`expected ${expected}, got ${JSON.stringify(withoutPassword(value))}`);
	}
	return data;
}

/** A URL's scheme and user, which a password follows, or a token that is the user. One letter and a colon are a drive of Windows. */
const USER_INFO = /^(\s*(?![a-z]:[\\/])[^/\\?#@:]+:[/\\]*(?:(?<=[/\\])[^/\\@:]*:)?).*@/is;

/**
 * The value for display. In a URL, also in one that is rejected, `***` is in place of the password, of a user without password,
 * and of the values of query and fragment. Several are separated by commas.
 */
export function withoutPassword(value: unknown): unknown {
	if (typeof value !== "string") {
		return Array.isArray(value) ? value.map(withoutPassword) : value;
	}
	const urls = value.split(/(?<=,)(?=\s*[a-z][a-z0-9+.-]*:\/\/)/i).map((each) => each.replace(USER_INFO, "$1***@"));
	const withoutValues = (query: string): string => query.replace(/([?&#](?:[^=&#]*=)?)[^&#]*/g, "$1***");
	return urls.map((each) => each.replace(/(?<=^[^?#]*:[/\\]{2}[^?#]*)[?#].*/s, withoutValues)).join("");
}

/** Text that is not empty. */
export function text(placeholder: string): SettingKind<string> {
	return { placeholder, expected: "text", schema: z.string().min(1) };
}

/** Address to listen on by default. */
export const LOOPBACK = "127.0.0.1";

/** A port; 0 is a free one. */
export const PORT = integer("port", 0, 65_535);

export const FILE: SettingKind<string> = { ...text("file"), path: true };
export const FOLDER: SettingKind<string> = { ...text("folder"), path: true };
export const PASSWORD: SettingKind<string> = { ...text("password"), secret: true };
export const KEY: SettingKind<string> = { ...text("key"), secret: true };

/** A word that can be part of a NATS subject. */
export const nameInCluster: SettingKind<string> = {
	placeholder: "name",
	expected: '1 to 63 letters, digits, "-" and "_"',
	schema: z.string().regex(/^[A-Za-z0-9_-]{1,63}$/),
};

/** Hours of each day: "22:00-07:00". */
export const hours: SettingKind<string> = {
	placeholder: "from-to",
	expected: "two times of day like 22:00-07:00",
	schema: z.string().regex(/^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]$/),
};

/** A whole number; `placeholder` is its unit. */
export function integer(placeholder: string, minimum: number, maximum: number): SettingKind<number> {
	const digits = z.string().regex(/^[0-9]{1,15}$/);
	return {
		placeholder,
		range: `${minimum} to ${maximum}`,
		expected: `a whole number from ${minimum} to ${maximum}`,
		schema: z.union([digits.transform(Number), z.number()]).pipe(z.int().min(minimum).max(maximum)),
	};
}

/** Yes or no: `--NAME` or `--no-NAME`, true or false. */
export const flag: SettingKind<boolean> = {
	expected: "true or false",
	schema: z.union([z.boolean(), z.enum(["true", "false"]).transform((word) => word === "true")]),
};

/** One of a few words. */
export function oneOf<const T extends string>(placeholder: string, words: readonly T[]): SettingKind<T> {
	return { placeholder, expected: `one of ${words.join(", ")}`, schema: z.literal(words) };
}

/** A URL with one of these schemes. */
export function url(schemes: readonly string[]): SettingKind<string> {
	return {
		placeholder: "url",
		expected: `a URL without "#" that begins with ${schemes.map((each) => `${each}//`).join(" or ")}`,
		schema: z
			.string()
			.refine((value) => URL.canParse(value) && schemes.includes(new URL(value).protocol) && !value.includes("#")),
	};
}

const anyHttpUrl = url(["http:", "https:"]);

/** A URL of HTTP. User name and password are rejected: they are never sent, and errors could quote them. */
export const httpUrl: SettingKind<string> = {
	...anyHttpUrl,
	expected: `${anyHttpUrl.expected}, without user name and password`,
	schema: anyHttpUrl.schema.refine((value) => {
		const { username, password } = URL.canParse(value) ? new URL(value) : {};
		return !username && !password;
	}),
};

/** Several URLs with one of these schemes, which hold secrets: a repeated flag, as {@link list}. */
export function urls(schemes: readonly string[]): SettingKind<readonly string[]> {
	const { schema, expected } = url(schemes);
	return list("url", `URLs: ${expected}`, schema);
}

/** Several texts: a repeated flag, commas in the environment, an array in the file. */
export function list(placeholder: string, expected = "a list of texts", item: z.ZodType<string> = z.string().min(1)) {
	return {
		placeholder,
		repeatable: true,
		expected,
		schema: z.preprocess(splitAtCommas, z.array(item)),
	} satisfies SettingKind<readonly string[]>;
}

/** Hostnames as the SDK compares them: no port; no scheme either, except `SCHEME://*` for browser extensions. */
export const hostnames: SettingKind<readonly string[]> = list(
	"name",
	"hostnames, without scheme and port",
	z
		.string()
		.regex(/^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]|[a-z-]+:\/\/\*)$/)
		.toLowerCase(),
);

/** IP addresses, and ranges in CIDR notation. */
export const networks: SettingKind<readonly string[]> = list(
	"address",
	"IP addresses or ranges like 10.0.0.0/8",
	z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]),
);

/** Texts by name: `NAME=VALUE` as {@link list} has its items, an object in the file. */
export function pairs(placeholder: string): SettingKind<ReadonlyMap<string, string>> {
	const some = z.string().min(1);
	return {
		placeholder,
		repeatable: true,
		expected: `pairs like ${placeholder}`,
		schema: z.preprocess(
			(value) => {
				if (isObject(value)) {
					return new Map(Object.entries(value));
				}
				const pair = (item: unknown): [string, string] => {
					const at = `${item}`.lastIndexOf("=");
					// Anything but `NAME=VALUE` gets an empty name, which is rejected.
					return [`${item}`.slice(0, Math.max(at, 0)), `${item}`.slice(at + 1)];
				};
				return new Map([splitAtCommas(value)].flat().map(pair));
			},
			z.map(some, some),
		),
	};
}

/** Scopes by the values of an issuer's claims: `VALUE=SCOPE`, several scopes with spaces between them. */
export const scopesByValue: SettingKind<ReadonlyMap<string, string>> = {
	...pairs("VALUE=SCOPE"),
	expected: `pairs like VALUE=SCOPE, with ${Object.values(SCOPES).join(", ")} or device:ID as the scope`,
	schema: pairs("VALUE=SCOPE").schema.refine((map) =>
		[...map.values()].every((scopes) => scopes.split(" ").every(isScope)),
	),
};

/** Hints about tools, by patterns of their names. */
export const toolHints: SettingKind<ReadonlyMap<string, ToolHint>> = {
	...pairs("PATTERN=HINT"),
	expected: `pairs like PATTERN=HINT, with ${TOOL_HINTS.join(", ")} as the hint`,
	schema: pairs("PATTERN=HINT").schema.pipe(z.map(z.string().max(128), z.enum(TOOL_HINTS))),
};

function splitAtCommas(value: unknown): unknown {
	return typeof value === "string" ? value.split(",").map((each) => each.trim()) : value;
}

/** Which tools clients list: see ToolView. */
export const CATALOG_MODES = ["auto", "full", "search", "groups"] as const;

export type CatalogMode = (typeof CATALOG_MODES)[number];

/** The kind of list in use: "auto" chooses one of the others. */
export type ListKind = Exclude<CatalogMode, "auto">;

/** Settings cannot be used. The message has a line for each, with its name as the user wrote it. */
export class ConfigurationError extends GatewayError {
	override readonly name = "ConfigurationError";

	constructor(problems: readonly string[], options?: { readonly cause?: unknown }) {
		super("configuration", problems.join("\n"), options);
	}
}
