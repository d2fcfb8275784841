import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "@humanwhocodes/momoa";
import { isObject } from "xs-mcp-firmware/core/text/json";
import {
	ConfigurationError,
	flagOf,
	inGroup,
	type Plugin,
	readValue,
	SETTING_GROUPS,
	type Setting,
	type Settings,
	variableOf,
	withoutPassword,
} from "../plugin.js";
import type { TokenKind } from "./access.js";
import { isLoopback, publicOrigin } from "./listen-address.js";
import { type Configuration, SETTING_NAMES, SETTINGS, type SettingName } from "./settings.js";
import type { TokenStore } from "./token-store.js";

/** The file that is read, if it exists, when no other is named. */
const DEFAULT_FILE = "xs-mcp-gateway.json";

/** The sources of settings. The first with a value for a setting wins. */
export interface ConfigurationSources {
	/** The values of the command line, by the setting's name. */
	readonly flags?: Readonly<Partial<Record<SettingName, unknown>>>;
	readonly environment?: Readonly<Record<string, string | undefined>>;
	/** A file that must exist. Default: {@link DEFAULT_FILE} in the working folder, if present. */
	readonly file?: string | undefined;
	/** An operator's own plugins, with their settings. Undefined: not loaded, so settings of theirs are ignored. */
	readonly plugins?: readonly Plugin[];
}

type SettingsFile = ReturnType<typeof readFile>;

interface Origins {
	/** All settings, also those of an operator's own plugins. */
	readonly settings: Settings;
	/** Sources of the settings that are not at their defaults. */
	readonly from: Readonly<Record<string, string>>;
}

const ORIGINS = new WeakMap<Configuration, Origins>();

/**
 * Merges the settings: flags before environment before file before default.
 *
 * @throws ConfigurationError that names every setting that cannot be used, and every unknown one in the file
 */
export function readConfiguration(sources: ConfigurationSources): Configuration {
	const file = readFile(sources.file);
	const settings: Record<string, Setting<unknown>> = { ...SETTINGS };
	const configuration: Record<string, unknown> = {};
	const from: Record<string, string> = {};
	const problems: string[] = [];
	for (const plugin of sources.plugins ?? []) {
		const taken = Object.keys(plugin.settings ?? {}).filter((name) => name in settings);
		problems.push(...taken.map((name) => `plugin ${plugin.name}: there is another setting ${name}`));
		Object.assign(settings, inGroup("Your own plugins", plugin.settings ?? {}));
	}
	for (const [name, setting] of Object.entries(settings)) {
		try {
			const value = given(name, sources, file);
			if (value !== undefined) {
				from[name] = value.source;
			}
			configuration[name] = settled(setting, value);
		} catch (error) {
			problems.push((error as Error).message);
		}
	}
	const complete = configuration as unknown as Configuration;
	if (sources.plugins !== undefined || complete.plugins?.length === 0) {
		problems.unshift(...unknownIn(file, settings));
	}
	problems.push(...incomplete(settings, from));
	if (complete.issuer !== undefined && publicOrigin(complete.publicUrl) === undefined) {
		problems.push("issuer: requires publicUrl, with https and without a path");
	}
	if (complete.mcpOverMqtt && complete.cluster !== undefined) {
		problems.push("mcpOverMqtt: cannot be used with cluster, whose gateways would take the servers from each other");
	}
	if (problems.length > 0) {
		throw new ConfigurationError(problems);
	}
	ORIGINS.set(complete, { settings, from });
	return complete;
}

/** Imports the plugins that the settings name. Rejects with ConfigurationError that says which one cannot be used. */
export async function loadPlugins(sources: ConfigurationSources): Promise<readonly Plugin[]> {
	const from = given("plugins", sources, readFile(sources.file));
	return await Promise.all((settled(SETTINGS.plugins, from) as readonly string[]).map(importPlugin));
}

/** Imports a module that exports a plugin, or a function that makes one with the kinds of settings. */
async function importPlugin(path: string): Promise<Plugin> {
	try {
		const { default: exported } = await import(pathToFileURL(path).href);
		// The function may use any kind of setting, so it gets the whole module.
		const plugin = typeof exported === "function" ? exported(await import("../plugin.js")) : exported;
		if (typeof plugin?.name !== "string" || typeof plugin.setup !== "function") {
			throw new Error("expected a default export with name and setup");
		}
		return plugin;
	} catch (error) {
		throw new ConfigurationError([`plugins: ${path}: ${(error as Error).message}`], { cause: error });
	}
}

/** The settings for display: secrets, also those in URLs, are `***`. */
export function describeConfiguration(configuration: Configuration): Record<string, unknown> {
	const values: Readonly<Record<string, unknown>> = { ...configuration };
	const known = Object.entries(originsOf(configuration).settings).filter(([name]) => values[name] !== undefined);
	return Object.fromEntries(known.map(([name, setting]) => [name, shownValue(setting, values[name])]));
}

function shownValue({ secret, shown = withoutPassword }: Setting<unknown>, value: unknown): unknown {
	if (secret) {
		return hidden(value);
	}
	return value instanceof Map ? Object.fromEntries(value) : shown(value);
}

function originsOf(configuration: Configuration): Origins {
	return ORIGINS.get(configuration) ?? { settings: SETTINGS, from: {} };
}

/** Settings for display. `source` is "--http-port" or "gateway.json: httpPort"; undefined: the default. `flag` is the variable of a setting without one. */
export type ListedSettings = ReturnType<typeof listSettings>;

/** Lists the settings by group, without secrets. */
export function listSettings(configuration: Configuration) {
	const values = describeConfiguration(configuration);
	const { settings, from } = originsOf(configuration);
	return SETTING_GROUPS.map((group) => ({
		group,
		settings: Object.entries(settings)
			.filter(([, setting]) => setting.group === group)
			.map(([name, { secret, description }]) => ({
				name,
				flag: secret || group === "Your own plugins" ? variableOf(name) : flagOf(name),
				description,
				value: values[name],
				source: from[name],
			})),
	}));
}

function hidden(value: unknown): unknown {
	return Array.isArray(value) ? value.map(hidden) : "***";
}

function readFile(named: string | undefined) {
	const path = named ?? DEFAULT_FILE;
	let content = "{}";
	try {
		// Editors on Windows write a byte order mark.
		content = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
	} catch (error) {
		if (named !== undefined || (error as NodeJS.ErrnoException).code !== "ENOENT") {
			throw new ConfigurationError([`${path}: cannot be read: ${(error as Error).message}`], { cause: error });
		}
	}
	let settings: unknown;
	try {
		settings = JSON.parse(content);
	} catch (error) {
		// Only some messages of JSON.parse have a position.
		const why = (error as Error).message.replace(/(?: in JSON)? at position .*$|, .* is not valid JSON$/s, "");
		throw new ConfigurationError([`${path}${placeIn(content)}: not JSON: ${why}`], { cause: error });
	}
	if (!isObject(settings)) {
		throw new ConfigurationError([`${path}: expected an object of settings`]);
	}
	return { path, settings };
}

/** The line and column of the first mistake. Empty if only `JSON.parse` finds one: a line break in a string. */
function placeIn(content: string): string {
	try {
		parse(content);
		return "";
	} catch (error) {
		const { line, column } = error as { line: number; column: number };
		return `:${line}:${column}`;
	}
}

function unknownIn({ path, settings }: SettingsFile, known: Settings): string[] {
	return Object.keys(settings)
		.filter((key) => key !== "$schema" && !Object.hasOwn(known, key))
		.map((key) => {
			const close = settingsLike(key).join(" or ");
			return `${path}: ${key}: unknown setting${close && `; did you mean ${close}?`}`;
		});
}

/** The settings whose names differ in case and punctuation only, or begin or end with the same word. */
export function settingsLike(key: string): SettingName[] {
	const plain = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, "");
	return SETTING_NAMES.filter((name) => {
		const [known, wrong] = [plain(name), plain(key)];
		return known === wrong || (wrong.length > 2 && (known.startsWith(wrong) || known.endsWith(wrong)));
	});
}

/** Finds a value as it was given, its source ("--http-port", "gateway.json: httpPort"), and the folder of relative paths. */
function given(name: string, { flags, environment }: ConfigurationSources, file: SettingsFile) {
	const folder = process.cwd();
	const flag = flags?.[name as SettingName];
	if (flag !== undefined) {
		return { value: flag, source: flagOf(name), folder };
	}
	// A file of variables from Windows leaves a carriage return.
	const variable = environment?.[variableOf(name)]?.replace(/[\r\n]+$/, "");
	if (variable) {
		return { value: variable, source: variableOf(name), folder };
	}
	const value = file.settings[name];
	return value === undefined
		? undefined
		: { value, source: `${file.path}: ${name}`, folder: dirname(resolve(file.path)) };
}

function settled(setting: Setting<unknown>, from: ReturnType<typeof given>): unknown {
	if (from === undefined) {
		return setting.default;
	}
	try {
		const value = readValue(setting, from.value);
		const absolute = (path: unknown): string => resolve(from.folder, path as string);
		const settle = setting.path ? absolute : (each: unknown) => each;
		return Array.isArray(value) ? value.map(settle) : settle(value);
	} catch (error) {
		const why = setting.secret ? `expected ${setting.expected}` : (error as Error).message;
		throw new ConfigurationError([`${from.source}: ${why}`], { cause: error });
	}
}

/** Names settings without another one that they require. One that is disabled on purpose counts: `mqtt: false`. */
function incomplete(settings: Settings, from: Origins["from"]): string[] {
	return Object.entries(settings).flatMap(([name, { requires = [] }]) => {
		const source = from[name];
		const missing = source === undefined ? [] : requires.filter((other) => from[other] === undefined);
		return missing.map((other) => `${source}: requires ${other} (${flagOf(other)})`);
	});
}

/** Why a gateway must not start: other machines could use it without a token, or it had tokens before and has none now. */
export function tokenProblems(configuration: Configuration, tokens: TokenStore): string[] {
	const { httpAddress, websocket, websocketAddress, mqtt, mqttAddress, bootstrap } = configuration;
	// The bootstrap creates the tokens of devices.
	const needsDeviceTokens = bootstrap === "closed";
	// An issuer outside makes the tokens of clients.
	const has = (kind: TokenKind): boolean =>
		tokens.has(kind) || (kind === "client" && configuration.issuer !== undefined);
	const create = (kind: TokenKind): string => `xs-mcp-gateway token add NAME --for ${kind}`;
	const exposed = (name: SettingName, address: string, kind: TokenKind): string[] => {
		const problem =
			`${name} ${address}: anyone on the network could use the gateway, since there is no token for ${kind}s. ` +
			`Create one first: ${create(kind)}. Or listen on loopback: ${flagOf(name)} 127.0.0.1`;
		return isLoopback(address) || has(kind) ? [] : [problem];
	};
	const lost = (kind: TokenKind): string[] => {
		const problem =
			`no token for ${kind}s is left, but there was one before. Create one: ${create(kind)}. ` +
			`Or start the gateway once with ${flagOf("open")}, which allows ${kind}s without tokens again`;
		return has(kind) || !tokens.needs(kind) ? [] : [problem];
	};
	const proxied = (["allowedHosts", "trustProxy"] as const)
		.filter((name) => configuration[name].length > 0 && !has("client"))
		.map(
			(name) =>
				`${name}: other machines could use the gateway, because there is no token for clients. ` +
				`Create one first: ${create("client")}`,
		);
	return [
		...lost("client"),
		...(needsDeviceTokens && (websocket || mqtt) ? lost("device") : []),
		...exposed("httpAddress", httpAddress, "client"),
		...proxied,
		...(needsDeviceTokens && websocket ? exposed("websocketAddress", websocketAddress, "device") : []),
		...(needsDeviceTokens && mqtt ? exposed("mqttAddress", mqttAddress, "device") : []),
	];
}
