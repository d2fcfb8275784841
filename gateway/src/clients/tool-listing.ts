import type { Tool } from "@modelcontextprotocol/server";
import type { DeviceTool } from "../servers/device.js";
import { isUserOnly, type KnownDevice } from "../servers/known-device.js";
import { ALIAS_SEPARATOR, portableNames } from "./names.js";

/**
 * How tools are named in a host's list: as their device names them, so that every host takes the name, or so and with
 * the device's alias in front. See docs/gateway.md.
 */
export type Naming = "own" | "portable" | "prefixed";

/** Lists made before, by the array of tools that they were made of. */
const listings = new WeakMap<readonly DeviceTool[], Map<string, readonly Tool[]>>();
const namings = new WeakMap<readonly DeviceTool[], Map<string, ReadonlyMap<string, string>>>();

/** A device's tools as a host lists them. The same array for the same device, until its tools change. */
export function listedTools(known: KnownDevice, naming: Naming, withUserTools: boolean): readonly Tool[] {
	const key = `${naming} ${withUserTools} ${known.alias}`;
	return remember(listings, known.tools, key, () => {
		const tools = new Map(known.tools.map((tool) => [tool.name, tool]));
		return [...namesOf(known, naming)].flatMap(([name, own]) => {
			const tool = tools.get(own) as DeviceTool;
			return withUserTools || !isUserOnly(tool) ? [{ ...tool, name } as Tool] : [];
		});
	});
}

/** The tool of a device that goes by a name. */
export function findTool(known: KnownDevice, naming: Naming, name: string): DeviceTool | undefined {
	const own = namesOf(known, naming).get(name);
	return own === undefined ? undefined : known.tools.find((tool) => tool.name === own);
}

/** The alias in a name that has one. */
export function aliasIn(name: string): string | undefined {
	const end = name.indexOf(ALIAS_SEPARATOR);
	return end < 0 ? undefined : name.slice(0, end);
}

/** The device's names by those that hosts use, in the device's order. */
function namesOf({ tools, alias }: KnownDevice, naming: Naming): ReadonlyMap<string, string> {
	const prefix = naming === "prefixed" ? alias : "";
	return remember(namings, tools, `${naming} ${prefix}`, () => {
		const own = tools.map(({ name }) => name);
		return naming === "own" ? new Map(own.map((name) => [name, name])) : portableNames(own, prefix);
	});
}

function remember<Value>(
	all: WeakMap<readonly DeviceTool[], Map<string, Value>>,
	tools: readonly DeviceTool[],
	key: string,
	make: () => Value,
): Value {
	let made = all.get(tools);
	if (made === undefined) {
		made = new Map();
		all.set(tools, made);
	}
	let value = made.get(key);
	if (value === undefined) {
		value = make();
		made.set(key, value);
	}
	return value;
}
