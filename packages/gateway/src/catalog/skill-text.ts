import type { Tool } from "@modelcontextprotocol/server";
import type { Catalog } from "./catalog.js";
import { ALIAS_SEPARATOR } from "./shared-list.js";

/** The skill's name, which ends its path (SEP-2640). */
export const SKILL_NAME = "devices";

/** Devices and servers, tags, tools and arguments that the skill names. */
const MAX_SERVERS = 100;
const MAX_TAGS = 30;
const MAX_TOOLS = 30;
const MAX_ARGUMENTS = 30;

/** Tools that are looked at: thousands of devices have the same. */
const MAX_CALLABLE = 5_000;

/** Characters of a text that a device says of itself. */
const MAX_LABEL = 60;

/** A tool by its name without a device, and the devices that have it. */
interface NamedTool {
	readonly name: string;
	readonly listed: Tool;
}

/**
 * `SKILL.md` for a catalog: which devices there are, how to call them, and what needs care. It does not change while a device
 * is offline. Of what devices say of themselves it has names alone: descriptions are in the list of tools.
 */
export function skillText(catalog: Catalog): string {
	const { servers } = catalog;
	const tools = namedTools(catalog);
	const isAlone = catalog.server !== undefined;
	const careful = tools
		.filter(({ listed }) => listed.annotations?.destructiveHint === true)
		.slice(0, MAX_TOOLS)
		.map(({ name }) => `- \`${name}\``);
	return [
		"---",
		`name: ${SKILL_NAME}`,
		'description: "Which devices and servers are here, their names, tags and limits, and which tools need care. Read it before you control a device."',
		"---",
		"",
		"# Devices",
		"",
		...table(catalog),
		"",
		"## Call a tool",
		"",
		...(isAlone ? [] : [`- A tool's name is the device's, \`${ALIAS_SEPARATOR}\`, and the tool's.`]),
		...(isAlone || servers.length < 2 ? [] : severalDevices(catalog)),
		"- A call waits a moment for a device that is offline. Then it fails, and nothing was sent.",
		"- If a device is lost during a call, the call may have been carried out: read the state before you repeat it.",
		"",
		...section("## Ask the person first", "What these tools do cannot be undone by another call:", careful),
		...section("## Limits", "Arguments outside of these ranges are rejected:", limits(tools)),
	]
		.join("\n")
		.trimEnd()
		.concat("\n");
}

function table({ servers }: Catalog): string[] {
	const rows = servers
		.slice(0, MAX_SERVERS)
		.map(({ alias, board, tags }) => `| ${alias} | ${label(board.name)} | ${tags.join(", ")} |`);
	const left = servers.length - rows.length;
	return [
		...(rows.length === 0 ? ["No device is known yet."] : ["| name | kind | tags |", "| --- | --- | --- |", ...rows]),
		...(left > 0 ? ["", `${left} more: \`servers_list\`.`] : []),
	];
}

function severalDevices({ servers }: Catalog): string[] {
	const byTag = new Map<string, string[]>();
	for (const { alias, tags } of servers) {
		for (const tag of tags) {
			byTag.set(tag, [...(byTag.get(tag) ?? []), alias]);
		}
	}
	const tags = [...byTag].slice(0, MAX_TAGS).map(([tag, of]) => `\`${tag}\` (${of.length})`);
	return [
		'- One call reaches several devices with the argument `devices`: names, tags, or `["all"]`. Tools that are listed once have it; for others, `tool_call` and `tool_read`.',
		...(tags.length === 0 ? [] : [`- Tags: ${tags.join(", ")}.`]),
	];
}

/** Each tool once, in the order of their names. */
function namedTools(catalog: Catalog): readonly NamedTool[] {
	const found = new Map<string, NamedTool>();
	let looked = 0;
	for (const member of catalog.callable) {
		looked += 1;
		if (looked > MAX_CALLABLE) {
			break;
		}
		const listed = catalog.listed(member);
		const prefix = `${member.server.alias}${ALIAS_SEPARATOR}`;
		const name = listed.name.startsWith(prefix) ? listed.name.slice(prefix.length) : listed.name;
		found.set(name, found.get(name) ?? { name, listed });
	}
	return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The ranges of numbers that tools take. */
function limits(tools: readonly NamedTool[]): string[] {
	return tools
		.flatMap(({ name, listed }) => {
			const ranges = Object.entries(listed.inputSchema.properties ?? {}).flatMap(([argument, schema]) => {
				const { minimum, maximum } = schema as { readonly minimum?: unknown; readonly maximum?: unknown };
				const isRange = typeof minimum === "number" && typeof maximum === "number";
				return isRange ? [`\`${label(argument)}\` ${minimum} to ${maximum}`] : [];
			});
			return ranges.length === 0 ? [] : [`- \`${name}\`: ${ranges.join(", ")}`];
		})
		.slice(0, MAX_ARGUMENTS);
}

function section(title: string, intro: string, items: readonly string[]): string[] {
	return items.length === 0 ? [] : [title, "", intro, "", ...items, ""];
}

/** A device's own word, without what could end a cell or give instructions at length. */
function label(text: string): string {
	const plain = text.replace(/[^\p{L}\p{N} ._-]/gu, "");
	return plain.replace(/ +/g, " ").trim().slice(0, MAX_LABEL);
}
