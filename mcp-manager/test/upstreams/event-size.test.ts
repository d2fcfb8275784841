import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventSize } from "../../src/upstreams/event-size.js";
import { connected, serveHttp } from "../support/upstreams.js";

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
			const url = await serveHttp(t, (request, response) => {
				request.resume();
				response.writeHead(200, { "Content-Type": "text/event-stream" });
				const write = (): void => {
					while (!response.destroyed && response.write(piece)) {}
				};
				response.write("data: ");
				response.on("drain", write);
				write();
			});
			await assert.rejects(connected(t, { id: "endless", url }), {
				message: "Connection failed: event too large (limit 10485760 bytes)",
			});
		});
	}
});
