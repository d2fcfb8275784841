import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { listen } from "../../../host-test/support/testing.js";
import { readForm } from "../src/devices/pictures/picture-routes.js";
import { GatewayError } from "../src/gateway-error.js";

const MAX_FILE = 100_000;
const BOUNDARY = "----ESP32_CAMERA_BOUNDARY";
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

const field = (name: string, value: string) =>
	`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (content: string, name = "file") =>
	`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="camera.jpg"\r\n` +
	`Content-Type: image/jpeg\r\n\r\n${content}\r\n`;
const END = `--${BOUNDARY}--\r\n`;

type Form = Awaited<ReturnType<typeof readForm>>;

type Outcome = Form | Error;

/** Sends chunks to a server that reads them as a form, and tells what it makes of them. */
async function send(t: TestContext, chunks: readonly string[], headers: object = {}): Promise<Outcome> {
	const server = createServer();
	const port = await listen(t, server);
	const options = { port, host: "127.0.0.1", method: "POST", headers: { "Content-Type": TYPE, ...headers } };
	const request = httpRequest(options);
	request.on("error", () => {
		// The server may close the connection first.
	});
	const arrived = once(server, "request");
	request.flushHeaders();
	const [incoming] = await arrived;
	const outcome = readForm(incoming, MAX_FILE).catch((error: Error) => error);
	for (const chunk of chunks) {
		request.write(chunk);
	}
	request.end();
	return await outcome;
}

const statusOf = (outcome: Outcome) => (outcome instanceof GatewayError ? outcome.status : outcome);

describe("readForm", () => {
	it("reads what the C++ firmware sends, in chunks of any size", async (t) => {
		const whole = field("question", "何が見える?") + file("x".repeat(5_000)) + END;
		for (const size of [whole.length, 1_000, 7]) {
			const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
				whole.slice(index * size, (index + 1) * size),
			);
			const form = (await send(t, chunks)) as Form;
			assert.equal(form.fields.get("question"), "何が見える?");
			assert.equal(form.file.toString(), "x".repeat(5_000));
		}
	});

	const rejected: [string, number, string[], object?][] = [
		["a file that is too large", 413, [file("x".repeat(MAX_FILE + 1)), END]],
		["a form whose length is too large", 413, [], { "Content-Length": String(MAX_FILE * 2) }],
		["a form that is too large besides its file", 413, [file("x"), `--${BOUNDARY}\r\nX: `, "y".repeat(200_000)]],
		["a field that is too long", 400, [field("question", "x".repeat(9_000)), file("x"), END]],
		["too many fields", 400, [...Array.from({ length: 10 }, (_, index) => field(`f${index}`, "")), file("x"), END]],
		["two files", 400, [file("x"), file("y"), END]],
		["a form without a file", 400, [field("question", "x"), END]],
		["a form without its end", 400, [file("x")]],
		["an empty body", 400, []],
		["a form without a boundary", 415, [], { "Content-Type": "multipart/form-data" }],
		["a form with an empty boundary", 400, [], { "Content-Type": "multipart/form-data; boundary=" }],
		["another content type", 415, ["{}"], { "Content-Type": "application/json" }],
		["compressed bodies", 415, [], { "Content-Encoding": "gzip" }],
	];
	for (const [name, status, chunks, headers] of rejected) {
		it(`rejects ${name}`, async (t) => {
			assert.equal(statusOf(await send(t, chunks, headers)), status);
		});
	}
});
