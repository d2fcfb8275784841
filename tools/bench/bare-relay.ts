// The least that any gateway does: HTTP in, WebSocket out, one JSON.parse and one JSON.stringify each way. One device, no
// token, no check of anything.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type WebSocket, WebSocketServer } from "ws";

/** Requests that the device has not answered, by the ids that the relay has given them. */
const pending = new Map<number, { readonly id: unknown; readonly response: ServerResponse }>();
let device: WebSocket | undefined;
let lastId = 0;

const server = createServer(async (request, response) => forward(await text(request), response));

function forward(text: string, response: ServerResponse): void {
	const message = JSON.parse(text);
	if (message.id === undefined) {
		response.writeHead(202).end();
		return;
	}
	lastId += 1;
	pending.set(lastId, { id: message.id, response });
	device?.send(JSON.stringify({ session_id: "bare", type: "mcp", payload: { ...message, id: lastId } }));
}

function answer(text: string): void {
	const { type, payload } = JSON.parse(text);
	if (type === "hello") {
		device?.send(JSON.stringify({ type: "hello", transport: "websocket", session_id: "bare" }));
		return;
	}
	const { id, response } = pending.get(payload.id) as { id: unknown; response: ServerResponse };
	pending.delete(payload.id);
	const body = JSON.stringify({ ...payload, id });
	response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }).end(body);
}

new WebSocketServer({ server, perMessageDeflate: false }).on("connection", (socket: WebSocket) => {
	device = socket;
	socket.on("message", (data: Buffer) => answer(data.toString()));
});

server.listen(0, "127.0.0.1", () => console.log(`listening on ${(server.address() as AddressInfo).port}`));
