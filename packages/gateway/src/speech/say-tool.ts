import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { EVERY_DEVICE, type ServerRegistry } from "xs-mcp-manager/core";
import * as z from "zod";
import type { OwnTool } from "../catalog/catalog.js";
import { chooseMembers, DEVICES } from "../catalog/groups.js";
import { type Access, reaches } from "../config/access.js";
import { ownTool } from "../mcp/own-tool.js";
import type { Announcements, Outcome } from "./announcements.js";

/** Characters of a text: about two minutes. */
const MAX_TEXT = 1_000;

const INPUT = z.strictObject({
	text: z.string().trim().min(1).max(MAX_TEXT).describe("Plain text, in the language of the people who hear it"),
	[DEVICES]: z.array(z.string()).min(1).describe(`Devices, tags of several, or "${EVERY_DEVICE}"`),
	chime: z.boolean().default(false).describe("A chime comes first"),
	urgent: z.boolean().default(false).describe("Interrupts other announcements, also in quiet hours"),
	volume: z.int().min(0).max(100).optional().describe("Percent, for this announcement only"),
	until_pressed: z.boolean().default(false).describe("Repeats it until a button of the device is pressed"),
});

const LISTED: Omit<Tool, "inputSchema"> = {
	name: "say",
	title: "Say",
	description:
		"Say a text aloud on devices, for the people nearby. Returns when the sound has ended, with what became of it on each device: " +
		"played, sent (it does not say when it has played it), shown (as text on the screen) or failed.",
	annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
};

/** The tool `say`, if a client with this access may change anything. */
export function sayToolFor(access: Access, announcements: Announcements, servers: ServerRegistry): readonly OwnTool[] {
	if (access.readOnly || access.isForeignPage) {
		return [];
	}
	const say = ownTool(LISTED, INPUT, async (args, { principal, signal }) => {
		const reachable = servers.all.filter((server) => !server.configured && reaches(access, server.id));
		const members = reachable.map((server) => ({ server }));
		const devices = chooseMembers({ listed: LISTED, members }, args[DEVICES]).map(({ server }) => server);
		const { text, chime, urgent: isUrgent, volume, until_pressed: untilPressed } = args;
		const what = { text, chime, isUrgent, volume, untilPressed };
		return resultOf(await announcements.say(what, devices, { principal, signal }), servers);
	});
	return [say];
}

/** It is a failed call only if every device has failed. */
function resultOf(outcomes: readonly Outcome[], servers: ServerRegistry): CallToolResult {
	const lines = outcomes.map(({ device, outcome, reason, pressed }) => {
		const more = reason ?? (pressed === undefined ? undefined : `a button was ${pressed ? "" : "not "}pressed`);
		const { title } = servers.find(device) ?? {};
		return `${device}${title === undefined ? "" : ` "${title}"`}: ${outcome}${more === undefined ? "" : ` (${more})`}`;
	});
	const isError = outcomes.every(({ outcome }) => outcome === "failed");
	return {
		content: [{ type: "text", text: lines.join("\n") }],
		structuredContent: { results: outcomes },
		...(isError && { isError }),
	};
}
