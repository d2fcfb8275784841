import type { Tool } from "@modelcontextprotocol/server";
import { type ServerRegistry, textResult } from "xs-mcp-manager/core";
import * as z from "zod";
import type { OwnTool } from "../catalog/catalog.js";
import type { Access } from "../config/access.js";
import { ownTool } from "../mcp/own-tool.js";
import { ASK_USER, findTool } from "../speech/device-tools.js";
import type { SpeechOfGateway } from "../speech/plugin.js";
import { type Answer, ask } from "./ask.js";
import { DEVICE, findDevice } from "./listen-tool.js";
import type { Microphones } from "./microphones.js";
import { MAX_SECONDS } from "./recording.js";

/** Characters of a question, and of an answer; and answers: as much as a device's `ask_user` takes. */
const MAX_QUESTION = 500;
const MAX_ANSWER = 40;
const MAX_ANSWERS = 8;

const INPUT = z.strictObject({
	device: DEVICE,
	question: z.string().trim().min(1).max(MAX_QUESTION).describe("In the language of the people who hear it"),
	answers: z
		.array(z.string().trim().min(1).max(MAX_ANSWER))
		.max(MAX_ANSWERS)
		.default([])
		.describe("Expected answers, also to be chosen by buttons or touch. Without them any spoken answer counts"),
	seconds: z.int().min(3).max(MAX_SECONDS).default(15).describe("Time for the answer, after the question"),
});

const LISTED: Omit<Tool, "inputSchema"> = {
	name: "ask",
	title: "Ask",
	description:
		"Ask the people near a device a question, aloud and on its screen, and wait for the answer: by voice, by buttons or by touch, " +
		"whichever comes first. The device listens with its microphone after the question.",
	annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
};

/** The tool `ask`, for a client that may listen. */
export function askTool(
	access: Access,
	microphones: Microphones,
	servers: ServerRegistry,
	{ turns, voice }: SpeechOfGateway,
): OwnTool {
	return ownTool(LISTED, INPUT, async ({ device: name, question: text, answers, seconds }, caller) => {
		const device = findDevice(servers, access, name);
		const question = { text, answers, seconds };
		const onProgress = (passed: number, message: string): void =>
			caller.progress(Math.min(passed, seconds), seconds, message);
		try {
			const hasButtons = device.online && answers.length > 0 && findTool(device, ASK_USER) !== undefined;
			if (!hasButtons) {
				microphones.check(device);
			}
			const { principal, clientName } = caller;
			const answer = await turns.take(device, caller.signal, (signal) => {
				const asking = { principal, clientName, signal, onProgress };
				return ask(device, question, asking, microphones, voice?.announcements);
			});
			return textResult(describe(answer), {
				structuredContent: { device: device.alias, answered: answer !== undefined, ...answer },
			});
		} catch (error) {
			throw new Error(`${device.alias}: ${(error as Error).message}`);
		}
	});
}

function describe(answer: Answer | undefined): string {
	if (answer === undefined) {
		return "Nobody answered.";
	}
	const { by, text, answer: expected } = answer;
	return by === "button" ? `${expected} (by button)` : `${expected ?? "another answer"} (by voice: ${text})`;
}
