import { once } from "node:events";
import type { TestContext } from "node:test";
import { WebSocketServer } from "ws";
import { readFrame } from "../../src/voice/audio-frames.js";

/** A backend of the family that only listens. */
export async function openBackend(test: TestContext, version: number) {
	const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
	await once(server, "listening");
	test.after(() => {
		for (const socket of server.clients) {
			socket.terminate();
		}
		server.close();
	});
	const packets: Uint8Array[] = [];
	/** Types of what the device says, with its states: "hello", "listen start". */
	const messages: string[] = [];
	const greeted = new Promise<void>((resolve) => {
		server.on("connection", (socket) => {
			socket.on("message", (data: Buffer, isBinary) => {
				if (isBinary) {
					packets.push(Uint8Array.from(readFrame(data, version)));
					return;
				}
				const { type, state } = JSON.parse(data.toString());
				if (type === "hello") {
					socket.send(JSON.stringify({ type: "hello", transport: "websocket", session_id: "s" }));
					resolve();
				}
				if (type !== "mcp") {
					messages.push(state === undefined ? type : `${type} ${state}`);
				}
			});
		});
	});
	const { port } = server.address() as { port: number };
	return { url: `ws://127.0.0.1:${port}/`, packets, messages, greeted };
}
