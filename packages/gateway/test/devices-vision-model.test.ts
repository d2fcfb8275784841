import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { listen } from "../../../host-test/support/testing.js";
import { readConfiguration } from "../src/config/configuration.js";
import { askVisionModel } from "../src/devices/pictures/picture-routes.js";
import type { WireCall, WireDevice } from "../testing/gateway.js";
import { jpeg, startCamera, takePhoto, upload, visionOf } from "../testing/pictures.js";

interface Asked {
	readonly path: string;
	readonly authorization: string | undefined;
	readonly body: { model: string; messages: { content: object[] }[] };
}

async function startModel(t: TestContext, answer: (response: ServerResponse) => void) {
	const asked: Asked[] = [];
	const server = createServer(async (request: IncomingMessage, response) => {
		const bytes = await buffer(request);
		const { url: path = "", headers } = request;
		asked.push({ path, authorization: headers.authorization, body: JSON.parse(bytes.toString()) });
		answer(response);
	});
	return { url: `http://127.0.0.1:${await listen(t, server)}/v1`, asked };
}

async function photograph(t: TestContext, answer: (response: ServerResponse) => void) {
	const { url, asked } = await startModel(t, answer);
	const settings = { visionUrl: url, visionModel: "eyes", visionKey: "k-secret" };
	const onCall = ({ id }: WireCall, device: WireDevice): undefined => {
		void upload({ ...visionOf(device), question: "What is it?", file: jpeg() }).then(({ body }) =>
			device.answer(id, { content: [{ type: "text", text: JSON.stringify(body) }], isError: false }),
		);
	};
	const { started, client } = await startCamera(t, { onCall }, settings);
	const { content } = await takePhoto(client, "What is it?");
	assert.doesNotMatch(started.log(), /k-secret/);
	assert.deepEqual(content[1], { type: "image", mimeType: "image/jpeg", data: jpeg().toString("base64") });
	return { asked, answer: JSON.parse((content[0] as { text: string }).text) as Record<string, unknown> };
}

const saying = (text: unknown) => (response: ServerResponse) =>
	response.end(JSON.stringify({ choices: [{ message: { role: "assistant", content: text } }] }));

describe("a vision model", () => {
	it("is asked about the picture, and its text is in the result", async (t) => {
		const { asked, answer } = await photograph(t, saying("a window"));
		assert.deepEqual(answer, { success: true, action: "RESPONSE", response: "a window" });
		const [{ path, authorization, body }] = asked as [Asked];
		assert.deepEqual([path, authorization, body.model], ["/v1/chat/completions", "Bearer k-secret", "eyes"]);
		assert.deepEqual(body.messages[0]?.content, [
			{ type: "text", text: "What is it?" },
			{ type: "image_url", image_url: { url: `data:image/jpeg;base64,${jpeg().toString("base64")}` } },
		]);
	});

	it("has its text shortened, because a device's memory is small", async (t) => {
		const { answer } = await photograph(t, saying("long ".repeat(1_000)));
		assert.equal(String(answer.response).length, 2_000);
	});

	const failures: [string, (response: ServerResponse) => void][] = [
		["answers with an error", (response) => response.writeHead(500).end("no")],
		["answers with no text", saying(undefined)],
		["answers with what is not JSON", (response) => response.end("hello")],
		["answers without end", (response) => response.end("x".repeat(300_000))],
		["redirects", (response) => response.writeHead(302, { Location: "http://127.0.0.1:1/" }).end()],
	];
	for (const [name, answerWith] of failures) {
		it(`that ${name} does not cost the picture`, async (t) => {
			const { answer } = await photograph(t, answerWith);
			assert.equal(answer.success, false);
			assert.match(String(answer.message), /did not answer/);
		});
	}

	it("that is too slow fails", async (t) => {
		const { url } = await startModel(t, () => {});
		const picture = { mimeType: "image/jpeg", data: jpeg() } as const;
		await assert.rejects(askVisionModel({ url, model: "eyes" }, "What is it?", picture, 1), { name: "TimeoutError" });
	});

	it("needs both its URL and its name", () => {
		assert.throws(
			() => readConfiguration({ flags: { visionUrl: "http://127.0.0.1/v1" } }),
			/requires vision(Url|Model)/,
		);
	});
});
