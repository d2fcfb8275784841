import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { connectClient, nextOnline } from "xs-mcp-gateway/testing/gateway";
import { startProgram } from "xs-mcp-gateway/testing/program";
import { cases } from "../host-test/support/scope.js";
import { ENGINE, startDevice } from "./fixtures.js";

const JPEG_BASE64 = /^\/9j\//;

const TRANSPORTS = {
	websocket: {},
	mqtt: { mqtt: true, websocket: false },
};

for (const [name, flags] of cases(Object.entries(TRANSPORTS))) {
	describe(`pictures of a virtual device over ${name}`, () => {
		const connect = async (t: TestContext) => {
			const { gateway, base } = await startProgram(t, { userTools: ["*"], ...flags });
			const backend = gateway.urls.websocket ?? gateway.urls.mqtt;
			const online = nextOnline(gateway.servers);
			await startDevice(t, ENGINE, { config: { backend: backend as string } });
			const { alias } = await online;
			return await connectClient(t, new URL(`${base}/mcp/${alias}`), "2025-11-25");
		};

		it("a photo is an image in the result of take_photo", async (t) => {
			const client = await connect(t);
			const photo = { name: "self_camera_take_photo", arguments: { question: "何が見える?" } };
			const { content, isError } = await client.callTool(photo);
			const [text, image] = content as [{ text: string }, { type: string; mimeType: string; data: string }];
			assert.deepEqual([isError, content.length, image.type, image.mimeType], [false, 2, "image", "image/jpeg"]);
			assert.match(image.data, JPEG_BASE64);
			assert.equal(JSON.parse(text.text).success, true);
		});

		it("the screen is an image in the result of snapshot", async (t) => {
			const client = await connect(t);
			const { content, isError } = await client.callTool({ name: "self_screen_snapshot", arguments: {} });
			assert.deepEqual([isError, content.length, content[1]?.type], [false, 2, "image"]);
		});
	});
}
