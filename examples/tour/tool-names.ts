import type { Tool } from "@modelcontextprotocol/client";
import { closest, distance } from "fastest-levenshtein";

/** Between a device's alias and its tool's name. */
const SEPARATOR = "__";

/**
 * Finds a tool by its name in the list, or by the device's own name for it: then it is the first device's that has it.
 *
 * @throws Error that names a similar tool
 */
export function findTool(tools: readonly Tool[], name: string): Tool {
	const portable = name.replace(/[^A-Za-z0-9_-]/g, "_");
	const tool =
		tools.find((each) => each.name === name) ??
		tools.find((each) => each.name === portable || each.name.endsWith(`${SEPARATOR}${portable}`));
	if (tool === undefined) {
		throw new Error(`${name}: unknown tool: ${suggest(tools, portable)}`);
	}
	return tool;
}

/** Names a similar tool, if one exists that does no harm: nobody shall restart a device by a slip. */
function suggest(tools: readonly Tool[], name: string): string {
	const names = tools.filter(({ annotations }) => annotations?.destructiveHint !== true).map((tool) => tool.name);
	const own = new Map(names.map((each) => [each.split(SEPARATOR).at(-1) as string, each]));
	if (own.size === 0) {
		return "no device has tools";
	}
	const similar = closest(name, [...own.keys()]);
	return distance(name, similar) > name.length / 2 ? '"list" shows the tools' : `did you mean ${own.get(similar)}?`;
}

/** What the last word of a command may become, for readline: a command, a tool, or an argument of the tool. */
export function complete(text: string, commands: readonly string[], tools: readonly Tool[]): [string[], string] {
	const words = text.trimStart().split(/\s+/);
	const last = words.at(-1) ?? "";
	return [candidates(words, commands, tools).filter((each) => each.startsWith(last)), last];
}

function candidates(words: readonly string[], commands: readonly string[], tools: readonly Tool[]): string[] {
	if (words.length < 2) {
		return commands.map((name) => `${name} `);
	}
	if (words[0] !== "call") {
		return [];
	}
	if (words.length === 2) {
		return tools.map(({ name }) => `${name} `);
	}
	const tool = tools.find(({ name }) => name === words[1]);
	return Object.keys(tool?.inputSchema.properties ?? {}).map((name) => `${name}=`);
}
