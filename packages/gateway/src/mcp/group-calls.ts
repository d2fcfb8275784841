import { type CallToolResult, type ContentBlock, isInputRequiredResult } from "@modelcontextprotocol/server";
import { type OrInput, ServerError, textOf } from "xs-mcp-manager/core";
import { chooseMembers, DEVICES, type Member, type ToolGroup } from "../catalog/groups.js";
import { answerFailedCall, answerWrongArguments, failedCall } from "./contents.js";

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
	call: (member: Member, args: object) => Promise<OrInput<CallToolResult>>,
): Promise<CallToolResult> {
	let chosen: readonly Member[];
	try {
		chosen = chooseMembers(group, named);
	} catch (error) {
		return answerWrongArguments((error as Error).message, revision);
	}
	if (chosen.length > MAX_DEVICES) {
		return answerWrongArguments(`${DEVICES}: ${chosen.length} devices, at most ${MAX_DEVICES} in one call`, revision);
	}
	// The schema is the same for all: one check is enough.
	const [{ server, tool }] = chosen as [Member];
	try {
		await server.checkArguments(tool, args);
	} catch (error) {
		return answerFailedCall(error, server, revision);
	}
	return combined(await Promise.all(chosen.map((member) => outcomeOf(member, () => call(member, args)))));
}

async function outcomeOf(
	{ server: { alias: device }, tool }: Member,
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
	return {
		content: [{ type: "text", text: [...head, ...lines].join("\n") }, ...outcomes.flatMap(othersOf)],
		structuredContent: { results: results.map(({ text: _, ...rest }) => rest), failed },
		...(failed === results.length && { isError: true }),
	};
}

/** Pictures, sound and resources of one device, after its name. */
function othersOf({ device, result }: Outcome): ContentBlock[] {
	const others = result.content.filter((block) => !isText(block));
	return others.length === 0 ? [] : [{ type: "text", text: `${device}:` }, ...others];
}

function isText({ type }: ContentBlock): boolean {
	return type === "text";
}
