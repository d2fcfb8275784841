// Devices without firmware: each a WebSocket with the firmware's hello and tools that answers every call with "true".
// Arguments: the gateway's URL, or several with commas between that take turns; how many; and a file with the tools.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import pLimit from "p-limit";
import { WebSocket } from "ws";
import { macAddress, tokenOf } from "./light-device.js";

/** Devices that connect at the same time: a listening socket holds only so many that wait. */
const CONNECTING = 100;

const [urls = "", count = "", toolsFile = ""] = process.argv.slice(2);
const gateways = urls.split(",");
const tools: unknown = JSON.parse(readFileSync(toolsFile, "utf8"));

const RESULTS: Readonly<Record<string, unknown>> = {
	initialize: {
		protocolVersion: "2025-11-25",
		capabilities: { tools: {} },
		serverInfo: { name: "light", version: "1.0.0" },
	},
	"tools/list": { tools },
	"tools/call": { content: [{ type: "text", text: "true" }], isError: false },
};

async function connect(at: number): Promise<void> {
	const id = macAddress(at);
	const headers = {
		authorization: `Bearer ${tokenOf(id)}`,
		"device-id": id,
		"client-id": `light-${at}`,
		"protocol-version": "1",
	};
	const socket = new WebSocket(gateways[at % gateways.length] as string, { headers, perMessageDeflate: false });
	socket.on("message", (data: Buffer) => {
		const { type, session_id, payload } = JSON.parse(data.toString());
		if (type === "mcp" && payload.id !== undefined) {
			const answer = { jsonrpc: "2.0", id: payload.id, result: RESULTS[payload.method] ?? {} };
			socket.send(JSON.stringify({ session_id, type: "mcp", payload: answer }));
		}
	});
	await once(socket, "open");
	socket.send(JSON.stringify({ type: "hello", version: 1, features: { mcp: true }, transport: "websocket" }));
	socket.once("close", () => {
		console.error(`${id} was cut off`);
		process.exit(1);
	});
}

console.log("connecting");
const limit = pLimit(CONNECTING);
await Promise.all(Array.from({ length: Number(count) }, (_, at) => limit(() => connect(at))));
console.log("connected");
