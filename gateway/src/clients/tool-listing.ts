import type { Tool } from "@modelcontextprotocol/server";
import { isUserOnly, type Server } from "../servers/server.js";
import type { ServerTool } from "../servers/session.js";
import { ALIAS_SEPARATOR, portableNames } from "./names.js";

/**
 * How tools are named in a client's list: as their server names them, in characters that every client takes, or in those
 * characters with the server's alias in front. See docs/gateway.md.
 */
export type Naming = "own" | "portable" | "prefixed";

/** A tool of a server, and how clients see it: under another name. */
interface NamedTool {
	readonly tool: ServerTool;
	readonly listed: Tool;
}

/** Made once for each array of tools, by naming and prefix: a tool that has not changed stays the same object in lists. */
const namedTools = new WeakMap<readonly ServerTool[], Map<string, ReadonlyMap<string, NamedTool>>>();

/** A server's tools as a client lists them. */
export function listedTools(server: Server, naming: Naming, withUserTools: boolean): Tool[] {
	return [...toolsByName(server, naming).values()]
		.filter(({ tool }) => withUserTools || !isUserOnly(tool))
		.map(({ listed }) => listed);
}

/** The tool of a server that has this name in lists of that naming. */
export function findTool(server: Server, naming: Naming, name: string): ServerTool | undefined {
	return toolsByName(server, naming).get(name)?.tool;
}

/** The alias in a name that has one. */
export function aliasIn(name: string): string | undefined {
	const end = name.indexOf(ALIAS_SEPARATOR);
	return end < 0 ? undefined : name.slice(0, end);
}

/** By the names that clients use, in the server's order. */
function toolsByName({ tools, alias }: Server, naming: Naming): ReadonlyMap<string, NamedTool> {
	const made = namedTools.get(tools) ?? new Map<string, ReadonlyMap<string, NamedTool>>();
	namedTools.set(tools, made);
	const prefix = naming === "prefixed" ? alias : "";
	const key = `${naming} ${prefix}`;
	let byName = made.get(key);
	if (byName === undefined) {
		const own = tools.map(({ name }) => name);
		const names = naming === "own" ? own : [...portableNames(own, prefix).keys()];
		byName = new Map(tools.map((tool, index) => namedTool(names[index] as string, tool)));
		made.set(key, byName);
	}
	return byName;
}

function namedTool(name: string, tool: ServerTool): [string, NamedTool] {
	return [name, { tool, listed: { ...tool, name } }];
}
