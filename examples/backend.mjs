// node examples/backend.mjs [PORT]: a backend for devices, without the gateway. It lists a device's tools and calls one.
// In another terminal: npm run device -- --url ws://127.0.0.1:8770/
import { randomUUID } from "node:crypto";
import { WebSocketServer } from "ws";

const server = new WebSocketServer({ host: "127.0.0.1", port: Number(process.argv[2] ?? 8770) });
server.on("listening", () => console.log(`devices connect to ws://127.0.0.1:${server.address().port}/`));

server.on("connection", (socket, { headers }) => {
	const device = headers["device-id"];
	const sessionId = randomUUID();
	/** How to settle each request in progress, by its id. */
	const requests = new Map();
	const send = (message) => socket.send(JSON.stringify({ session_id: sessionId, ...message }));
	const sendMcp = (payload) => send({ type: "mcp", payload: { jsonrpc: "2.0", ...payload } });
	const ask = (method, params) =>
		new Promise((resolve, reject) => {
			const id = requests.size + 1;
			requests.set(id, { resolve, reject });
			sendMcp({ id, method, params });
		});

	socket.on("message", (data, isBinary) => {
		const { type, payload = {}, ...rest } = isBinary ? {} : JSON.parse(data);
		if (type === "hello") {
			send({ type: "hello", transport: "websocket", audio_params: {} });
			serve().catch((error) => console.error(`${device}: ${error.message}`));
		} else if (type === "mcp" && payload.method !== undefined) {
			console.log(`${device} says ${payload.method} ${JSON.stringify(payload.params)}`);
		} else if (type === "mcp") {
			const { resolve, reject } = requests.get(payload.id) ?? {};
			payload.error ? reject?.(new Error(payload.error.message)) : resolve?.(payload.result);
		} else {
			console.log(`${device} sends ${type} ${JSON.stringify(rest)}`);
		}
	});

	async function serve() {
		const clientInfo = { name: "backend", version: "1.0.0" };
		await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
		sendMcp({ method: "notifications/initialized" });
		const tools = [];
		let cursor;
		do {
			const page = await ask("tools/list", { cursor });
			tools.push(...page.tools);
			cursor = page.nextCursor;
		} while (cursor !== undefined);
		console.log(`${device} has ${tools.map(({ name }) => name).join(", ")}`);
		const name = "self.get_device_status";
		const { content } = await ask("tools/call", { name, arguments: {} });
		console.log(`${device} answers ${content[0].text}`);
		send({ type: "tts", state: "sentence_start", text: "Hello from the backend." });
	}
});
