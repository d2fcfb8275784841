import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { Server, ServerRegistry } from "xs-mcp-manager/core";
import * as z from "zod";
import type { OwnTool } from "../catalog/catalog.js";
import { type Access, reaches } from "../config/access.js";
import { ownTool } from "../mcp/own-tool.js";
import type { Heard, Microphones } from "./microphones.js";
import { MAX_SECONDS } from "./recording.js";

/** The argument that names a device. */
export const DEVICE = z.string().min(1).max(256).describe("Alias or id of the device");

const INPUT = z.strictObject({
	device: DEVICE,
	seconds: z.int().min(1).max(MAX_SECONDS).default(10).describe("How long it listens at most"),
	until: z
		.enum(["silence", "time"])
		.default("silence")
		.describe("silence: ends with the silence after speech; time: listens the whole time"),
	audio: z.boolean().default(false).describe("Also returns the sound, for clients that can use it"),
});

const LISTED: Omit<Tool, "inputSchema"> = {
	name: "listen",
	title: "Listen",
	description:
		"Listen with the microphone of a device, and return what was said as text. People nearby are recorded, so do it only " +
		"when they expect it; the device shows that it listens. Firmware of other makers may not begin by itself: the answer says so. " +
		"To ask a question and wait for the answer, use ask.",
	// Not read-only: it switches a microphone on.
	annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
};

/** The tool `listen`, for a client that may listen. */
export function listenTool(access: Access, microphones: Microphones, servers: ServerRegistry): OwnTool {
	return ownTool(LISTED, INPUT, async ({ device: name, seconds, until, audio }, caller) => {
		const device = findDevice(servers, access, name);
		const what = { seconds, untilSilence: until === "silence", asText: !audio || microphones.canRecognize };
		const heard = await microphones
			.listen(device, what, {
				principal: caller.principal,
				clientName: caller.clientName,
				signal: caller.signal,
				onProgress: (passed, message) => caller.progress(Math.min(passed, seconds), seconds, message),
			})
			.catch((error: Error) => {
				throw new Error(`${device.alias}: ${error.message}`);
			});
		return resultOf(device.alias, heard, audio);
	});
}

function resultOf(device: string, { text, hasSpeech, seconds, ended, wav }: Heard, withSound: boolean): CallToolResult {
	const told = text === "" ? (hasSpeech ? "Somebody spoke, but no words were recognized." : "Nobody spoke.") : text;
	return {
		content: [
			{ type: "text", text: told },
			...(withSound ? [{ type: "audio" as const, data: wav.toString("base64"), mimeType: "audio/wav" }] : []),
		],
		structuredContent: { device, heard: text !== "", text, seconds, ended },
	};
}

/** Names in an error. */
const MAX_NAMES = 20;

/**
 * The device that an argument names.
 *
 * @throws RangeError that lists the valid ones
 */
export function findDevice(servers: ServerRegistry, access: Access, name: string): Server {
	const isReached = (server: Server): boolean => !server.configured && reaches(access, server.id);
	const device = servers.find(name);
	if (device === undefined || !isReached(device)) {
		const names = servers.all.filter(isReached).map(({ alias }) => alias);
		throw new RangeError(
			`device: no device ${JSON.stringify(name)}; expected ${names.slice(0, MAX_NAMES).join(", ") || "one that has connected"}`,
		);
	}
	return device;
}
