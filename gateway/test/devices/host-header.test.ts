import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/until.js";
import { BOARD } from "../support/bootstrap.js";
import { connectWebSocket, familyHello } from "../support/family.js";
import { makeStateFolder, startProgram } from "../support/program.js";

// Clients on chips leave the port out of the Host header, whichever it is.
describe("a device whose Host header has no port", () => {
	const HEADERS = { "device-id": BOARD.id, "client-id": BOARD.clientId, host: "127.0.0.1" };

	it("is told to upload pictures at the port of its connection", async (t) => {
		const { deviceUrl } = await startProgram(t);
		const { mcp } = await connectWebSocket(t, deviceUrl, { headers: HEADERS });
		mcp.say(familyHello("websocket"));
		const initialize = () => mcp.received.find(({ payload }) => payload?.method === "initialize")?.payload;
		await until(() => initialize() !== undefined, "initialize");
		const { params } = initialize() as unknown as { params: { capabilities: { vision: { url: string } } } };
		assert.equal(params.capabilities.vision.url, `${deviceUrl.replace("ws:", "http:")}vision/explain`);
	});

	it("is given the URL of its firmware with the port of its request", async (t) => {
		const firmwareFolder = join(makeStateFolder(), "firmware");
		mkdirSync(firmwareFolder);
		writeFileSync(join(firmwareFolder, "lamp_1.0.0.bin"), "image");
		const { base } = await startProgram(t, { bootstrap: "open", firmwareFolder });
		const headers = { ...HEADERS, "user-agent": "lamp/0.9.0" };
		const [response] = await once(request(`${base}/xiaozhi/ota/`, { headers }).end(), "response");
		const { firmware } = JSON.parse(await text(response));
		assert.equal(await (await fetch(firmware.url)).text(), "image");
	});
});
