// The baseline: the official SDK's own server, with a tool like the device's but without a device.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";

/** Schema of the firmware's argument. */
const VOLUME = { type: "integer", minimum: 0, maximum: 100, description: "Percent of full volume" };
const inputSchema = fromJsonSchema<{ volume: number }>({
	type: "object",
	properties: { volume: VOLUME },
	required: ["volume"],
});

function createDirectServer(): McpServer {
	const server = new McpServer({ name: "direct", version: "1.0.0" });
	let volume = 0;
	const description = "Set the volume of the audio speaker.";
	server.registerTool("self.audio_speaker.set_volume", { description, inputSchema }, (args) => {
		volume = args.volume;
		return { content: [{ type: "text", text: String(volume >= 0) }] };
	});
	return server;
}

/** The one session at /session, as the revisions until 2025-11-25 have it; the later one at /stateless. */
async function listen(): Promise<number> {
	const session = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
	await createDirectServer().connect(session);
	const stateless = toNodeHandler(createMcpHandler(createDirectServer, { legacy: "reject" }));
	const server = createServer((request, response) => {
		const served =
			request.url === "/session"
				? session.handleRequest(request, response)
				: stateless(request as Parameters<typeof stateless>[0], response);
		served.catch((error) => {
			console.error(error);
			response.destroy();
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	return (server.address() as AddressInfo).port;
}

console.log(`listening on ${await listen()}`);
