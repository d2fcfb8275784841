// The server in an engine, called in a loop: Node says which message and how often, and takes the time.
import { Application } from "../src/app/application.js";
import type { Board } from "../src/hardware/hardware.js";
import { McpServer } from "../src/mcp_server/mcp-server.js";
import { integer, string } from "../src/mcp_server/schema.js";
import { decodeEnvelope, MCP_ENVELOPE_END, mcpEnvelopeStart } from "../src/protocols/envelope.js";
import type { Protocol, ProtocolEvents } from "../src/protocols/protocol.js";
import { defineTool, type HardwareTool } from "../src/tools/define-tool.js";
import { TOOLS } from "../src/tools/index.js";
import { boot, receive, send } from "../virtual-device/platform/bridge.js";

const start = mcpEnvelopeStart("0123456789abcdef");
let answered = 0;
let bytes = 0;

/** What the wire would carry, as bytes, counted instead of sent. */
function write(message: string): void {
	answered += 1;
	bytes += ArrayBuffer.fromString(start.concat(message, MCP_ENVELOPE_END)).byteLength;
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
	snapshot: { take: async () => new ArrayBuffer(0) },
	preview: { show: async () => {} },
	camera: { capture: async () => new ArrayBuffer(0) },
	updater: { upgrade: async () => {} },
	settings: { get: () => undefined, set() {}, delete() {} },
	http: { request: async () => ({ status: 200, body: new ArrayBuffer(0) }) },
	close() {},
};

/** The whole application on a transport that is always there: what the memory figures are of. */
function startApplication(tools: number): ProtocolEvents {
	const all = [...TOOLS, ...Array.from({ length: tools - TOOLS.length }, (_, at) => extraTool(at))];
	let events!: ProtocolEvents;
	const transport = { open() {}, close() {}, sendMcp: write } as Partial<Protocol> as Protocol;
	const application = new Application({
		board,
		tools: all,
		log: () => {},
		protocol: (given) => {
			events = given;
			return transport;
		},
	});
	application.start();
	events.onSession({ id: "0123456789abcdef", hello: {} }, start.length + 1);
	return events;
}

/** The server alone, with as many tools as the figure asks for. */
function startServer(tools: number): { onMcp(payload: unknown): void } {
	const all = [
		...TOOLS.slice(0, Math.min(5, tools)),
		...Array.from({ length: Math.max(0, tools - 5) }, (_, at) => extraTool(at)),
	];
	const server = new McpServer({ name: "bench", version: "0", context: board, tools: all });
	const session = server.open({ send: write, envelopeBytes: start.length + 1 });
	return { onMcp: (payload) => session.receive(payload) };
}

const { tools, whole } = boot.config as { tools: number; whole: boolean };
const target = whole ? startApplication(tools) : startServer(tools);

receive("bench", ([texts, rounds]) => {
	answered = 0;
	bytes = 0;
	for (let round = 0; round < (rounds as number); round += 1) {
		for (const text of texts as string[]) {
			try {
				target.onMcp(decodeEnvelope(text).payload);
			} catch {
				answered += 1;
			}
		}
	}
	send(["bench.done", answered, bytes]);
});
