// Devices without firmware: each a WebSocket with the firmware's hello and tools that answers every call with "true".
// Arguments: the gateway's URL, and a file with the devices' ids and tokens, and their tools.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import pLimit from "p-limit";
import { WebSocket } from "ws";

/** Ids and tokens of the devices, and the tools that each offers. */
export interface LightDevices {
	readonly devices: readonly { readonly id: string; readonly token: string }[];
	readonly tools: unknown;
}

/** Devices that connect at the same time: a listening socket holds only so many that wait. */
const CONNECTING = 100;

const [url = "", file = ""] = process.argv.slice(2);
const { devices, tools }: LightDevices = JSON.parse(readFileSync(file, "utf8"));

const RESULTS: Readonly<Record<string, unknown>> = {
	initialize: {
		protocolVersion: "2025-11-25",
		capabilities: { tools: {} },
		serverInfo: { name: "light", version: "1.0.0" },
	},
	"tools/list": { tools },
	"tools/call": { content: [{ type: "text", text: "true" }], isError: false },
};

async function connect({ id, token }: LightDevices["devices"][number]): Promise<void> {
	const headers = {
		authorization: `Bearer ${token}`,
		"device-id": id,
		"client-id": `light-${id}`,
		"protocol-version": "1",
	};
	const socket = new WebSocket(url, { headers, perMessageDeflate: false });
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
await Promise.all(devices.map((device) => limit(() => connect(device))));
console.log("connected");
