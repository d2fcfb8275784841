import assert from "node:assert/strict";
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { WebSocket } from "ws";
import type { ServerTool } from "xs-mcp-manager/core";
import { testWith, until } from "../../../host-test/support/testing.js";
import { listenForWebSocket } from "../src/devices/websocket.js";
import { AUDIO_FRAMES, CONVERSATION, callLamp, connectWebSocket, familyHello } from "../testing/family.js";
import { connectClient, LAMP, openGateway, startGateway, WireDevice } from "../testing/gateway.js";
import { startProgram } from "../testing/program.js";

const itProgram = testWith(startProgram);

const ID = "aa:bb:cc:00:00:02";
const HEADERS = { "device-id": ID, "client-id": "7b94d69a-9808-4c59-9c9b-704333b38aff", "protocol-version": "1" };
const QUERY = `?device-id=${encodeURIComponent(ID)}&client-id=web_test_client`;

async function start(t: TestContext, options: Parameters<typeof connectWebSocket>[2] = {}) {
	const started = await startProgram(t);
	const device = await connectWebSocket(t, started.deviceUrl, { headers: HEADERS, ...options });
	device.mcp.say(familyHello("websocket"));
	return { started, ...device };
}

async function statusOf(t: TestContext, url: string, headers: Record<string, string>): Promise<number> {
	const socket = new WebSocket(url, { headers });
	t.after(() => socket.terminate());
	socket.on("error", () => {});
	const status = once(socket, "unexpected-response").then(([, response]) => response.statusCode as number);
	return await Promise.race([status, once(socket, "open").then(() => 101)]);
}

describe("a device of the family over WebSocket", () => {
	for (const sessionId of ["", "of-another-session", undefined]) {
		itProgram(`can be called if the session id in its messages is ${JSON.stringify(sessionId)}`, async (started, t) => {
			const { mcp } = await connectWebSocket(t, started.deviceUrl, { headers: HEADERS });
			mcp.sessionId = sessionId;
			mcp.say(familyHello("websocket"));
			assert.equal(await callLamp(started, ID), "true");
			assert.doesNotMatch(started.log(), /dropped|rejected/);
		});
	}

	it("is discovered if its hello names no transport, its ids are in the query, and its list has pages", async (t) => {
		const started = await startProgram(t);
		const { mcp } = await connectWebSocket(t, `${started.deviceUrl}xiaozhi/v1/${QUERY}`);
		mcp.say(familyHello(undefined));
		assert.equal(await callLamp(started, ID), "true");
		assert.equal(mcp.first("hello")?.transport, "websocket");
		const names = started.gateway.servers.find(ID)?.tools.map(({ name }) => name);
		assert.deepEqual(names, ["self.lamp.set", "get_weather", "self.audio_speaker.set_volume"]);
	});

	itProgram("may have its token in the query", async (started, t) => {
		const token = await started.tokens.add({ name: "lamp", kind: "device", devices: [ID] });
		const url = `${started.deviceUrl}${QUERY}`;
		assert.equal(await statusOf(t, url, {}), 401);
		const { mcp } = await connectWebSocket(t, `${url}&authorization=${encodeURIComponent(`Bearer ${token}`)}`);
		mcp.say(familyHello("websocket"));
		assert.equal(await callLamp(started, ID), "true");
		assert.ok(!started.log().includes(token));
	});

	it("is rejected if a page of a foreign website plays it", async (t) => {
		const started = await startProgram(t, { allowedOrigins: ["tools.example"] });
		const url = `${started.deviceUrl}${QUERY}`;
		assert.equal(await statusOf(t, url, { origin: "https://evil.example" }), 403);
		assert.equal(await statusOf(t, url, { origin: "https://tools.example" }), 101);
		assert.equal(await statusOf(t, url, { origin: "http://localhost:8006" }), 101);
		assert.equal(await statusOf(t, started.deviceUrl, {}), 400);
	});

	itProgram("is rejected if its request has a path that is no URL", async (started, t) => {
		const { hostname, port } = new URL(started.deviceUrl);
		const socket = createConnection(Number(port), hostname);
		t.after(() => socket.destroy());
		const upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13";
		socket.write(`GET //[ HTTP/1.1\r\nHost: x\r\n${upgrade}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`);
		const [answer] = await once(socket, "data");
		assert.match(String(answer), /^HTTP\/1.1 400 /);
	});

	itProgram("may send audio in any framing before and after its hello", async (started, t) => {
		const { socket, mcp } = await connectWebSocket(t, started.deviceUrl, { headers: HEADERS });
		const sendAudio = () => AUDIO_FRAMES.forEach((frame) => void socket.send(frame));
		sendAudio();
		mcp.say(familyHello("websocket", 3));
		sendAudio();
		assert.equal(await callLamp(started, ID), "true");
		assert.doesNotMatch(started.log(), /dropped|rejected/);
	});

	it("may say what belongs to a conversation", async (t) => {
		const { started, mcp } = await start(t);
		CONVERSATION.forEach((message) => void mcp.say(message));
		assert.equal(await callLamp(started, ID), "true");
		assert.doesNotMatch(started.log(), /dropped|rejected/);
	});

	it("is not disconnected if it streams audio but answers no ping", async (t) => {
		const gateway = await openGateway(t);
		const devices = await listenForWebSocket(gateway.servers, { port: 0, pingInterval: 500 });
		const url = `ws://127.0.0.1:${devices.port}/`;
		t.after(() => devices.close());
		const { socket, mcp } = await connectWebSocket(t, url, { headers: HEADERS, autoPong: false });
		mcp.say(familyHello("websocket"));
		let pings = 0;
		socket.on("ping", () => {
			pings += 1;
			socket.send(AUDIO_FRAMES[0] as Buffer);
		});
		await until(() => pings >= 3 || socket.readyState === WebSocket.CLOSED, "it has been pinged three times");
		assert.equal(await callLamp({ gateway }, ID), "true");
	});

	it("is disconnected if it is silent and answers no ping", async (t) => {
		const gateway = await openGateway(t);
		const devices = await listenForWebSocket(gateway.servers, { port: 0, pingInterval: 30 });
		const url = `ws://127.0.0.1:${devices.port}/`;
		t.after(() => devices.close());
		const { socket, mcp } = await connectWebSocket(t, url, { headers: HEADERS, autoPong: false });
		mcp.say(familyHello("websocket"));
		await once(socket, "close");
	});

	it("is heard in order when an answer, a notification and the end come in one packet", async (t) => {
		const { started, socket, mcp } = await start(t);
		await until(() => started.gateway.servers.find(ID)?.online === true, "the device is online");
		const { _socket: tcp } = socket as unknown as { readonly _socket: Socket };
		socket.prependListener("message", () => tcp.cork());
		// The device has answered before.
		socket.on("message", () => {
			mcp.say({ type: "mcp", payload: { jsonrpc: "2.0", method: "notifications/state_changed", params: {} } });
			socket.close();
			tcp.uncork();
		});
		const heard: unknown[] = [];
		started.gateway.servers.on("notification", (_server, method) => heard.push(method));
		started.gateway.servers.on("disconnected", () => heard.push("disconnected"));
		heard.push(await callLamp(started, ID));
		await once(socket, "close");
		await until(() => heard.length >= 3, "the session has ended");
		assert.deepEqual(heard, ["true", "notifications/state_changed", "disconnected"]);
	});

	for (const error of [{ message: "The lamp is not plugged in" }, "The lamp is not plugged in"]) {
		it(`fails a call with its own words if its error is ${JSON.stringify(error)}`, async (t) => {
			const { started } = await start(t, { onCall: () => ({ error }) });
			await until(() => started.gateway.servers.find(ID)?.online === true, "the device is online");
			for (const era of ["2025-11-25", "2026-07-28"] as const) {
				const client = await connectClient(t, new URL(`${started.base}/mcp/${encodeURIComponent(ID)}`), era);
				const result = await client.callTool({ name: "self_lamp_set", arguments: { on: true } });
				assert.match((result.content[0] as { text: string }).text, /rejected the call: The lamp is not plugged in$/);
				assert.deepEqual([result.isError, result._meta?.["xs-mcp/error"]], [true, "rejected"]);
			}
		});
	}
});

describe("a device over WebSocket", () => {
	itProgram("is disconnected when its token is removed, even before its hello", async (started) => {
		await started.tokens.add({ name: "others", kind: "device" });
		const token = await started.tokens.add({ name: "lamp", kind: "device" });
		const headers = { "device-id": LAMP, authorization: `Bearer ${token}` };
		const socket = new WebSocket(started.deviceUrl, { headers });
		await once(socket, "open");
		await started.tokens.remove("lamp");
		const [, reason] = await once(socket, "close");
		assert.equal(String(reason), "the token is no longer valid");
	});

	it("is disconnected when it does not read what is sent to it", async (t) => {
		const side = await startGateway(t, { callsPerServer: 1_000 });
		const tool = { name: "say", inputSchema: { type: "object", properties: { text: { type: "string" } } } };
		const device = await WireDevice.connect(t, side, { tools: [tool], onCall: () => undefined });
		device.stopReading();
		const server = side.gateway.servers.find(LAMP);
		const calls = Array.from({ length: 400 }, () =>
			server?.call(server.tools[0] as ServerTool, { text: "x".repeat(60_000) }, { principal: "somebody" }),
		);
		const results = await Promise.allSettled(calls);
		assert.ok(results.every(({ status }) => status === "rejected"));
		await until(() => server?.online === false, "the device is offline");
	});
});
