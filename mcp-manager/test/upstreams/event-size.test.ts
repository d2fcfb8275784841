import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import { listen } from "../../../host-test/support/listen.js";
import { EventSize } from "../../src/upstreams/event-size.js";
import { serverConfig } from "../../src/upstreams/server-config.js";
import { openServers } from "../support/upstreams.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("an event of a stream", () => {
	it("is measured to the next empty line, whatever ends its lines", () => {
		for (const end of ["\n", "\r", "\r\n"]) {
			const size = new EventSize();
			const event = `data: 1${end}data: 2${end}${end}`;
			assert.ok(size.after(bytes(event.repeat(100))) <= event.length + 1, JSON.stringify(end));
			size.after(bytes("data: "));
			assert.ok(size.after(bytes("x".repeat(100))) > 100);
		}
	});

	for (const piece of ["x".repeat(65_536), `data: ${"x".repeat(1_000)}\n`.repeat(64)]) {
		it(`that has no end disconnects its server (${piece.includes("\n") ? "lines" : "one line"})`, async (t) => {
			const httpServer = createServer((request, response) => {
				request.resume();
				response.writeHead(200, { "Content-Type": "text/event-stream" });
				const write = (): void => {
					while (!response.destroyed && response.write(piece)) {}
				};
				response.write("data: ");
				response.on("drain", write);
				write();
			});
			const port = await listen(t, httpServer);
			const { servers } = await openServers(t);
			const configured = servers.add(serverConfig({ id: "endless", url: `http://127.0.0.1:${port}/mcp` }));
			await assert.rejects(configured.connect(), {
				message: "Connection failed: event too large (limit 10485760 bytes)",
			});
		});
	}
});
