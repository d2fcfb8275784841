import type { CallToolResult, Client, Progress, Tool } from "@modelcontextprotocol/client";
import { nearest } from "xs-mcp/build/suggest";
import { describeResult, entry, event, heading, line, paint } from "./prompt-output.js";

/** Between a device's alias and its tool's name. */
const SEPARATOR = "__";

/** The names that the tour's device itself uses for its tools, with dots, by the names that clients list. */
export type OwnNames = ReadonlyMap<string, string>;

/** The name of a tool at the prompt: the device's own name on the tour, and the listed name for others. */
export function shownName({ name }: Tool, own: OwnNames): string {
	return own.get(name) ?? name;
}

/**
 * Finds a tool by its listed name, or by a device's own name for it. The tour's device takes precedence, and then the
 * first device that has it.
 *
 * @throws Error that names a similar tool
 */
export function findTool(tools: readonly Tool[], name: string, own: OwnNames): Tool {
	const portable = toPortable(name);
	const tool =
		tools.find((each) => each.name === name || shownName(each, own) === name) ??
		tools.find((each) => each.name === portable || each.name.endsWith(`${SEPARATOR}${portable}`));
	if (tool === undefined) {
		throw new Error(`${name}: unknown tool: ${suggest(tools, name, own)}`);
	}
	return tool;
}

/** Suggests a similar tool, but none that does harm: a typing error must not restart a device. */
function suggest(tools: readonly Tool[], name: string, own: OwnNames): string {
	const harmless = tools.filter(({ annotations }) => annotations?.destructiveHint !== true);
	const shown = new Map(harmless.map((tool) => [distinctive(tool.name), shownName(tool, own)]));
	const wanted = distinctive(name);
	const names = [...shown.keys()];
	const similar = names.find((each) => each.endsWith(`_${wanted}`)) ?? nearest(wanted, names);
	const otherwise = names.length === 0 ? "no device has tools" : '"list" shows the tools';
	return similar === undefined ? otherwise : `did you mean ${shown.get(similar)}?`;
}

/** The distinctive part of a tool's name: all names may begin with "self.". */
function distinctive(name: string): string {
	return (toPortable(name).split(SEPARATOR).at(-1) as string).replace(/^self_/, "");
}

function toPortable(name: string): string {
	return name.replace(/[^A-Za-z0-9_-]/g, "_");
}

/** Completions of the last word of a command, for readline: a command, a tool, or an argument of the tool. */
export function complete(
	text: string,
	commands: readonly string[],
	tools: readonly Tool[],
	own: OwnNames,
): [string[], string] {
	const words = text.trimStart().split(/\s+/);
	const last = words.at(-1) ?? "";
	return [candidates(words, commands, tools, own).filter((each) => each.startsWith(last)), last];
}

function candidates(
	words: readonly string[],
	commands: readonly string[],
	tools: readonly Tool[],
	own: OwnNames,
): string[] {
	if (words.length < 2) {
		return commands.map((name) => `${name} `);
	}
	if (words[0] !== "call") {
		return [];
	}
	if (words.length === 2) {
		return tools.map((tool) => `${shownName(tool, own)} `);
	}
	const tool = tools.find((each) => each.name === words[1] || shownName(each, own) === words[1]);
	return Object.keys(tool?.inputSchema.properties ?? {}).map((name) => `${name}=`);
}

/** A word: plain characters and quoted parts side by side, as in question="What is this?". A lone quote is a character. */
const WORD = /(?:[^\s"']|"[^"]*"|'[^']*'|["'])+/g;

/** A word, or its value, that is in quotes as a whole. */
const QUOTED = /^([^"'=]*=)?(?:"([^"]*)"|'([^']*)')$/;

/**
 * Splits a command at spaces. Quotes around a word or its value are taken away; others are part of it, so that JSON needs
 * none around it: choices=["yes","no"]. No other character has a meaning.
 */
export function splitWords(text: string): string[] {
	return (text.match(WORD) ?? []).map((word) => word.replace(QUOTED, "$1$2$3"));
}

/** Lists the tools as a table. */
export async function showTools(client: Client, own: OwnNames): Promise<void> {
	const { tools } = await client.listTools();
	heading(`Tools (${tools.length})`);
	const width = Math.max(...tools.map((tool) => shownName(tool, own).length));
	for (const tool of tools) {
		const { description = "", inputSchema } = tool;
		const args = Object.keys(inputSchema.properties ?? {}).join(", ");
		entry(shownName(tool, own), width, `(${args}) ${paint("dim", firstSentence(description))}`);
	}
}

/** The listed name of a tool, with any prefix. */
export async function nameOf(client: Client, pattern: RegExp): Promise<string> {
	const { tools } = await client.listTools();
	const tool = tools.find(({ name }) => pattern.test(name));
	if (tool === undefined) {
		throw new Error(`no tool is called ${String(pattern)}`);
	}
	return tool.name;
}

/** Enough of a description to tell tools apart. */
function firstSentence(description: string): string {
	return /^.*?(?=\.(?:\s|$)|\n|$)/.exec(description)?.[0] ?? "";
}

/**
 * Calls a tool and shows its result or its error.
 *
 * @returns whether the tool succeeded
 */
export async function showCall(client: Client, name: string, args: Record<string, unknown>): Promise<boolean> {
	line(`${paint("bold", "->")} ${name} ${JSON.stringify(args)}`);
	try {
		// With progress, an update of the firmware is answered when it is installed, or has failed.
		const options = { timeout: 300_000, resetTimeoutOnProgress: true, onprogress: showProgress };
		const result = (await client.callTool({ name, arguments: args }, options)) as CallToolResult;
		line(`   ${await describeResult(result)}`);
		return result.isError !== true;
	} catch (error) {
		const { message, code } = error as Error & { code?: unknown };
		line(`   ${paint("red", `error ${String(code)}: ${message}`)}`);
		return false;
	}
}

function showProgress({ progress, total }: Progress): void {
	event(total === undefined ? `progress: ${progress}` : `progress: ${progress} of ${total}`);
}
