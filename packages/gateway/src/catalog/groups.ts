import { type CallToolResult, type ContentBlock, isInputRequiredResult, type Tool } from "@modelcontextprotocol/server";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { digest, EVERY_DEVICE, type OrInput, ServerError, type ServerTool, textOf } from "xs-mcp-manager/core";
import { answerFailedCall, answerWrongArguments, failedCall } from "../mcp/contents.js";
import type { FoundTool } from "./catalog.js";
import { MAX_NAME_LENGTH } from "./shared-list.js";

interface Tools {
	/** In the order of servers and of their tools. */
	readonly members: () => Iterable<FoundTool>;
	/** The same for tools that are alike: see {@link likenessOf}. */
	readonly likeness: (tool: ServerTool) => string;
	/** How a catalog of its server alone lists a tool. */
	readonly listed: (member: FoundTool) => Tool;
	/** Whether no group may have this name. */
	readonly isTaken: (name: string) => boolean;
}

/** A tool that several servers share, listed once. */
export interface ToolGroup {
	readonly listed: Tool;
	/** Sorted by alias. */
	readonly members: readonly FoundTool[];
}

/** The argument of a group's tool that selects devices. */
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
	const alike = new Map<string, FoundTool[]>();
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
		const first = listed(each[0] as FoundTool);
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
export function chooseMembers<Each extends Pick<FoundTool, "server">>(
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
	members: readonly FoundTool[],
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

function choicesOf(members: readonly Pick<FoundTool, "server">[]): string[] {
	const aliases = members.map(({ server }) => server.alias);
	const tags = new Set(members.flatMap(({ server }) => server.tags));
	return [...new Set([EVERY_DEVICE, ...aliases, ...[...tags].sort()])];
}

/** Devices that one call may reach. */
const MAX_DEVICES = 1_000;

/** The answer of one device. */
interface Outcome {
	readonly device: string;
	readonly result: CallToolResult;
}

/**
 * Calls a group's tool on the devices that the arguments name, on all at the same time. One result says what each device has
 * answered; it is a failed call only if every device has failed.
 *
 * @param call calls the tool of one device on behalf of the client. Rejects as a call of that tool alone does
 * @throws ProtocolError in revisions in which wrong arguments are an error
 */
export async function callGroup(
	group: ToolGroup,
	{ [DEVICES]: named, ...args }: Readonly<Record<string, unknown>>,
	revision: string,
	call: (member: FoundTool, args: object) => Promise<OrInput<CallToolResult>>,
): Promise<CallToolResult> {
	let chosen: readonly FoundTool[];
	try {
		chosen = chooseMembers(group, named);
	} catch (error) {
		return answerWrongArguments((error as Error).message, revision);
	}
	if (chosen.length > MAX_DEVICES) {
		return answerWrongArguments(`${DEVICES}: ${chosen.length} devices, at most ${MAX_DEVICES} in one call`, revision);
	}
	// All have the same schema, so one check rejects wrong arguments before any device is called.
	const [{ server, tool }] = chosen as [FoundTool];
	try {
		await server.checkArguments(tool, args);
	} catch (error) {
		return answerFailedCall(error, server, revision);
	}
	return combined(await Promise.all(chosen.map((member) => outcomeOf(member, () => call(member, args)))));
}

async function outcomeOf(
	{ server: { alias: device }, tool }: FoundTool,
	call: () => Promise<OrInput<CallToolResult>>,
): Promise<Outcome> {
	try {
		const result = await call();
		return {
			device,
			result: isInputRequiredResult(result)
				? failedCall("input-required", `asks for input first: call ${tool.name} of ${device} alone`)
				: result,
		};
	} catch (error) {
		const code = error instanceof ServerError ? error.code : "rejected";
		return { device, result: failedCall(code, (error as Error).message) };
	}
}

function combined(outcomes: readonly Outcome[]): CallToolResult {
	const results = outcomes.map(({ device, result }) => {
		const text = textOf(result.content.filter(isText));
		return { device, ok: result.isError !== true, result: result.structuredContent ?? text, text };
	});
	const failed = results.filter(({ ok }) => !ok).length;
	const lines = results.map(({ device, ok, text }) => `${device}: ${ok ? "" : "failed: "}${text}`);
	const head = failed === 0 ? [] : [`${failed} of ${results.length} failed`];
	/** Pictures, sound and resources, after the name of their device. */
	const others = outcomes.flatMap(({ device, result }): ContentBlock[] => {
		const blocks = result.content.filter((block) => !isText(block));
		return blocks.length === 0 ? [] : [{ type: "text", text: `${device}:` }, ...blocks];
	});
	return {
		content: [{ type: "text", text: [...head, ...lines].join("\n") }, ...others],
		structuredContent: { results: results.map(({ text: _, ...rest }) => rest), failed },
		...(failed === results.length && { isError: true }),
	};
}

function isText({ type }: ContentBlock): boolean {
	return type === "text";
}
