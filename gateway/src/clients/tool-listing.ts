import type { Tool } from "@modelcontextprotocol/server";
import { isUserOnly, type Server } from "../servers/server.js";
import type { ServerTool } from "../servers/session.js";
import { ALIAS_SEPARATOR, portableNames } from "./names.js";

/**
 * How tools are named in a client's list: as their server names them, in characters that every client takes, or in those
 * characters with the server's alias in front. See docs/gateway.md.
 */
export type Naming = "own" | "portable" | "prefixed";

/** Lists made before, by the array of tools that they were made from. */
const listings = new WeakMap<readonly ServerTool[], Map<string, readonly Tool[]>>();
const namings = new WeakMap<readonly ServerTool[], Map<string, ReadonlyMap<string, string>>>();

/** A server's tools as a client lists them. The same array for the same server, until its tools change. */
export function listedTools(server: Server, naming: Naming, withUserTools: boolean): readonly Tool[] {
	const key = `${naming} ${withUserTools} ${server.alias}`;
	return remember(listings, server.tools, key, () => {
		const tools = new Map(server.tools.map((tool) => [tool.name, tool]));
		return [...namesOf(server, naming)].flatMap(([name, own]) => {
			const tool = tools.get(own) as ServerTool;
			return withUserTools || !isUserOnly(tool) ? [{ ...tool, name } as Tool] : [];
		});
	});
}

/** The tool of a server that has this name in lists of that naming. */
export function findTool(server: Server, naming: Naming, name: string): ServerTool | undefined {
	const own = namesOf(server, naming).get(name);
	return own === undefined ? undefined : server.tools.find((tool) => tool.name === own);
}

/** The alias in a name that has one. */
export function aliasIn(name: string): string | undefined {
	const end = name.indexOf(ALIAS_SEPARATOR);
	return end < 0 ? undefined : name.slice(0, end);
}

/** The server's own names by the names that clients use, in the server's order. */
function namesOf({ tools, alias }: Server, naming: Naming): ReadonlyMap<string, string> {
	const prefix = naming === "prefixed" ? alias : "";
	return remember(namings, tools, `${naming} ${prefix}`, () => {
		const own = tools.map(({ name }) => name);
		return naming === "own" ? new Map(own.map((name) => [name, name])) : portableNames(own, prefix);
	});
}

function remember<Value>(
	all: WeakMap<readonly ServerTool[], Map<string, Value>>,
	tools: readonly ServerTool[],
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
