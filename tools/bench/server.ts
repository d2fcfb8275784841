// The server in an engine, called in a loop: Node says which message and how often, and takes the time.

import { boot, receive, send } from "../../packages/virtual-device/platform/bridge.js";
import type { Sendable } from "../../src/core/text/json.js";
import { type Board, isOffered } from "../../src/hardware/hardware.js";
import { heldBytes } from "../../src/hardware/pictures.js";
import { McpServer } from "../../src/mcp_server/mcp-server.js";
import { integer, string } from "../../src/mcp_server/schema.js";
import { findTools } from "../../src/platform/tools.js";
import { decodeEnvelope, ENVELOPE_NAMES, mcpWrapper } from "../../src/protocols/envelope.js";
import { defineTool, type HardwareTool } from "../../src/tools/define-tool.js";

const TOOLS = findTools();
const wrapper = mcpWrapper("0123456789abcdef");
/** Maximum number of values that a chip accepts in a message. */
const MAX_VALUES = 512;

let answered = 0;
let bytes = 0;

/** Counts the bytes that would be sent. */
function write(text: Sendable): void {
	answered += 1;
	if (typeof text === "string") {
		bytes += ArrayBuffer.fromString(text).byteLength;
		return;
	}
	for (let taken = 0; taken < text.bytes; ) {
		const { byteLength } = text.take();
		taken += byteLength;
		bytes += byteLength;
	}
}

function extraTool(at: number): HardwareTool {
	return defineTool({
		name: `self.bench.tool_${at}`,
		description: "A tool of about the size that tools have: a sentence or two of what it does, and when to use it.",
		needs: [],
		input: { level: integer({ minimum: 0, maximum: 100 }), note: { optional: string({ description: "Why" }) } },
		run: ({ level }) => level > 50,
	});
}

const board: Board = {
	name: "bench",
	speaker: { volume: 70 },
	screen: { width: 320, height: 240, monochrome: false, brightness: 75, theme: "light", show() {} },
	battery: { level: 88, charging: false },
	network: { type: "wifi", ssid: "home", rssi: -52, online: true, onChange: undefined },
	thermometer: { temperature: 41.5 },
	system: { macAddress: "02:00:00:00:00:01", info: () => ({}), restart() {} },
	snapshot: { take: async () => heldBytes(new Uint8Array(0)) },
	preview: { begin: () => ({ write() {}, end: async () => {}, cancel() {} }) },
	camera: { capture: async () => heldBytes(new Uint8Array(0)) },
	installer: { install: async () => {} },
	settings: { get: () => undefined, set: () => true, delete() {} },
	http: { request: async () => ({ status: 200, body: new ArrayBuffer(0) }) },
};

/** The firmware's own tools, and others until as many are listed as the figure asks for. Those for users only are not listed. */
const { tools } = boot.config as { tools: number };
const listed = TOOLS.filter((tool) => !tool.userOnly && isOffered(tool, board)).slice(0, tools);
const forUsers = TOOLS.filter(({ userOnly }) => userOnly);
const others = Array.from({ length: tools - listed.length }, (_, at) => extraTool(at));
const server = new McpServer({
	name: "bench",
	version: "0",
	context: board,
	names: ENVELOPE_NAMES,
	tools: [...listed, ...others, ...forUsers],
});
const session = server.open({ send: write, wrapper });

/** The answer to one message, as text. */
receive("answer", ([text]) => {
	const session = server.open({ send: (answer) => send(["answer", String(answer)]), wrapper });
	session.receive(decodeEnvelope(text as string).payload);
	session.close();
});

/** One round: kept apart from the loop, so that the loop costs as little as it can. */
function round(texts: readonly string[], isFirst: boolean): void {
	for (let at = 0; at < texts.length; at += 1) {
		try {
			session.receive(decodeEnvelope(texts[at] as string, MAX_VALUES, server, isFirst).payload);
		} catch {
			answered += 1;
		}
	}
}

receive("bench", ([texts, rounds]) => {
	answered = 0;
	bytes = 0;
	// It opens a session, so the firmware treats it as the first message.
	const isFirst = (texts as string[]).every((text) => text.includes('"initialize"'));
	for (let done = 0; done < (rounds as number); done += 1) {
		round(texts as string[], isFirst);
	}
	send(["bench.done", answered, bytes]);
});
