import type { Tool } from "@modelcontextprotocol/server";
import { digest, EVERY_DEVICE, type Server, type ServerTool } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";
import { MAX_NAME_LENGTH } from "./shared-list.js";

/** A tool of a server. */
export interface Member {
	readonly server: Server;
	readonly tool: ServerTool;
}

interface Tools {
	/** In the order of servers and of their tools. */
	readonly members: () => Iterable<Member>;
	/** The same for tools that are alike: see {@link likenessOf}. */
	readonly likeness: (tool: ServerTool) => string;
	/** How a catalog of its server alone lists a tool. */
	readonly listed: (member: Member) => Tool;
	/** Whether no group may have this name. */
	readonly isTaken: (name: string) => boolean;
}

/** A tool that several servers share, listed once. */
export interface ToolGroup {
	readonly listed: Tool;
	/** Sorted by alias. */
	readonly members: readonly Member[];
}

/** The argument of a group's tool that says which devices are meant. */
export const DEVICES = "devices";

/** Most devices and tags named in a schema. Beyond that the client gets them from servers_list. */
const MAX_CHOICES = 32;

/** Members of a schema that allow another property. `allOf`, `$ref` and the like could forbid it. */
const PLAIN = new Set(["type", "properties", "required", "additionalProperties", "title", "description", "$schema"]);

/** Hexadecimal digits that distinguish groups of the same name. */
const HASH_DIGITS = 8;

/** A key that tools of one group share: name, schema and hints. "" for a tool that cannot be grouped. */
export function likenessOf({ name, inputSchema, annotations }: ServerTool): string {
	const { properties = {} } = inputSchema;
	const isPlain = Object.keys(inputSchema).every((key) => PLAIN.has(key)) && isObject(properties);
	return isPlain && !(DEVICES in properties) ? JSON.stringify([name, inputSchema, annotations ?? null]) : "";
}

/** Whether there is a group, found as soon as two tools are alike. */
export function hasGroup({ members, likeness }: Tools): boolean {
	const seen = new Set<string>();
	for (const { tool } of members()) {
		const key = likeness(tool);
		if (key !== "" && seen.has(key)) {
			return true;
		}
		seen.add(key);
	}
	return false;
}

/**
 * The groups of tools that are alike, on two servers or more. Of several with one name, the largest gets the name, and the names of the others end in a hash of their contents.
 *
 * @param before unchanged groups keep their listed tool, as the same object
 */
export function groupTools(
	{ members, likeness, listed, isTaken }: Tools,
	before: ReadonlyMap<string, ToolGroup>,
): ReadonlyMap<string, ToolGroup> {
	const alike = new Map<string, Member[]>();
	for (const member of members()) {
		const key = likeness(member.tool);
		const others = alike.get(key) ?? [];
		others.push(member);
		alike.set(key, others);
	}
	const shared = [...alike]
		.filter(([key, each]) => key !== "" && each.length > 1)
		.sort(([, one], [, other]) => other.length - one.length);
	const groups = new Map<string, ToolGroup>();
	for (const [key, each] of shared) {
		const first = listed(each[0] as Member);
		const hash = digest(key).slice(0, HASH_DIGITS);
		const isFree = !groups.has(first.name) && !isTaken(first.name);
		const name = isFree ? first.name : `${first.name.slice(0, MAX_NAME_LENGTH - HASH_DIGITS - 1)}_${hash}`;
		const now = listedAs({ ...first, name }, each);
		const old = before.get(name)?.listed;
		groups.set(name, { listed: old && JSON.stringify(old) === JSON.stringify(now) ? old : now, members: each });
	}
	return groups;
}

/**
 * The members of a group that a client means.
 *
 * @param named its argument {@link DEVICES}: aliases, tags, or "all"; a single one needs no array. A tag that equals the
 * alias of a member means only that device.
 * @throws RangeError with the expected values
 */
export function chooseMembers<Each extends Pick<Member, "server">>(
	{ listed, members }: { readonly listed: Pick<Tool, "name">; readonly members: readonly Each[] },
	named: unknown,
): readonly Each[] {
	const names = typeof named === "string" ? [named] : named;
	if (!Array.isArray(names) || names.length === 0 || !names.every((name) => typeof name === "string")) {
		throw new RangeError(`${DEVICES}: expected a list of devices, tags or "${EVERY_DEVICE}"`);
	}
	const byAlias = new Map(members.map((member) => [member.server.alias, member]));
	const meant = new Set(
		[...new Set<string>(names)].flatMap((name) => {
			const alone = name === EVERY_DEVICE ? undefined : byAlias.get(name);
			const found = alone
				? [alone]
				: members.filter(({ server }) => name === EVERY_DEVICE || server.tags.includes(name));
			if (found.length === 0) {
				const choices = choicesOf(members).slice(0, MAX_CHOICES).join(", ");
				throw new RangeError(
					`${DEVICES}: no device or tag ${JSON.stringify(name)} has ${listed.name}; expected ${choices}`,
				);
			}
			return found;
		}),
	);
	return members.filter((member) => meant.has(member));
}

function listedAs(
	{ name, title, description, annotations, icons, inputSchema }: Tool,
	members: readonly Member[],
): Tool {
	const choices = choicesOf(members);
	const isShort = choices.length <= MAX_CHOICES;
	const where = isShort ? "" : ", as servers_list names them";
	const devices = {
		type: "array",
		items: { type: "string", ...(isShort && { enum: choices }) },
		minItems: 1,
		description: `Devices${where}, tags of several, or "${EVERY_DEVICE}"`,
	};
	return {
		name,
		title,
		description,
		inputSchema: {
			...inputSchema,
			properties: { [DEVICES]: devices, ...inputSchema.properties },
			required: [DEVICES, ...(inputSchema.required ?? [])],
		},
		annotations,
		icons,
	};
}

function choicesOf(members: readonly Pick<Member, "server">[]): string[] {
	const aliases = members.map(({ server }) => server.alias);
	const tags = new Set(members.flatMap(({ server }) => server.tags));
	return [...new Set([EVERY_DEVICE, ...aliases, ...[...tags].sort()])];
}
