import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { describe, it } from "node:test";
import { activate, BOARD, bootstrap, replyOf, systemInfo } from "../testing/bootstrap.js";
import { callLamp, connectMqtt, connectWebSocket, familyHello } from "../testing/family.js";
import { startProgram } from "../testing/program.js";

const STRANGER = { id: BOARD.id, clientId: "another-uuid" };

const IDS = { "Device-Id": BOARD.id, "Client-Id": BOARD.clientId };

describe("the bootstrap of devices", () => {
	it("tells a device where to connect, and the time", async (t) => {
		const started = await startProgram(t, { bootstrap: "open", mqtt: true });
		const before = Date.now();
		const { status, body } = await bootstrap(started, BOARD);
		assert.equal(status, 200);
		assert.deepEqual(body.websocket, { url: started.deviceUrl, token: "", version: 1 });
		const { host } = new URL(started.gateway.urls.mqtt as string);
		const { id } = BOARD;
		assert.deepEqual(body.mqtt, {
			endpoint: host,
			client_id: id,
			username: id,
			password: "none",
			publish_topic: `xs-mcp/${id}/up`,
			subscribe_topic: `xs-mcp/${id}/down`,
			keepalive: 60,
		});
		assert.ok(body.server_time.timestamp >= before && body.server_time.timestamp <= Date.now());
		assert.equal(body.server_time.timezone_offset, 0 - new Date().getTimezoneOffset());
		assert.equal(body.activation, undefined);
	});

	it("answers POST without a body, GET, and both with or without the last slash", async (t) => {
		const { base } = await startProgram(t, { bootstrap: "open" });
		const headers = { "device-id": BOARD.id, "client-id": BOARD.clientId };
		for (const method of ["GET", "POST"]) {
			for (const path of ["/xiaozhi/ota/", "/xiaozhi/ota"]) {
				const { body } = await replyOf(fetch(`${base}${path}`, { method, headers }));
				assert.match(body.websocket.url, /^ws:/, `${method} ${path}`);
			}
		}
	});

	it("is served at the port of the WebSockets too, and kept by no cache: the answer holds the device's token", async (t) => {
		const { base, deviceUrl } = await startProgram(t, { bootstrap: "open" });
		for (const url of [base, deviceUrl.replace(/^ws(.*)\/$/, "http$1")]) {
			const response = await fetch(`${url}/xiaozhi/ota/`, { headers: IDS });
			assert.equal(response.headers.get("cache-control"), "no-store", url);
			assert.equal((await response.json()).websocket.url, deviceUrl);
		}
	});

	it("gives the addresses that are set", async (t) => {
		const flags = { websocketUrl: "wss://devices.example/ws", mqttEndpoint: "devices.example:8883" };
		const started = await startProgram(t, { bootstrap: "open", mqtt: true, ...flags });
		const { body } = await bootstrap(started, BOARD);
		assert.deepEqual([body.websocket.url, body.mqtt.endpoint], [flags.websocketUrl, flags.mqttEndpoint]);
	});

	it("rejects a request for a Host that is not the gateway's, which a website can make after it rebinds its name", async (t) => {
		const { base } = await startProgram(t, { bootstrap: "open" });
		const headers = { "device-id": BOARD.id, "client-id": BOARD.clientId, host: "evil.example" };
		const [response] = await once(request(`${base}/xiaozhi/ota/`, { headers }).end(), "response");
		response.resume();
		assert.equal(response.statusCode, 403);
	});

	for (const [name, headers, body, status] of [
		["no Device-Id", { "Device-Id": "" }, {}, 400],
		["a Device-Id that is no id", { "Device-Id": "a/b" }, {}, 400],
		["no Client-Id", { "Client-Id": "" }, {}, 400],
		["a body that is too large", {}, { x: "x".repeat(70_000) }, 413],
		["another content type", { "Content-Type": "text/plain" }, {}, 415],
		["an Origin that is foreign", { Origin: "https://evil.example" }, {}, 403],
	] as const) {
		it(`rejects a request with ${name}`, async (t) => {
			const started = await startProgram(t, { bootstrap: "open" });
			const reply = await bootstrap(started, BOARD, { headers, body });
			assert.deepEqual([reply.status, reply.body.success], [status, false]);
			assert.match(reply.body.message, /./);
		});
	}

	it("answers a page in a browser that emulates a device, if its site is allowed", async (t) => {
		const { base } = await startProgram(t, { bootstrap: "open", allowedOrigins: ["page.example"] });
		const ask = (Origin: string, method: string) =>
			fetch(`${base}/xiaozhi/ota/`, {
				method,
				headers: { Origin, "Access-Control-Request-Headers": "client-id,content-type,device-id", ...IDS },
			});
		const preflight = await ask("https://page.example", "OPTIONS");
		assert.equal(preflight.status, 204);
		assert.equal(preflight.headers.get("access-control-allow-headers"), "client-id,content-type,device-id");
		const answer = await ask("https://page.example", "POST");
		assert.equal(answer.status, 200);
		assert.equal(answer.headers.get("access-control-allow-origin"), "https://page.example");
		assert.equal((await ask("https://evil.example", "OPTIONS")).status, 403);
	});

	it("takes a body whose members are not what they should be", async (t) => {
		const started = await startProgram(t, { bootstrap: "open" });
		for (const body of [
			[],
			5,
			null,
			{ board: 5, application: [] },
			{ board: { type: {} }, application: { version: 1 } },
		]) {
			assert.equal((await bootstrap(started, BOARD, { body })).status, 200, JSON.stringify(body));
		}
	});

	it("rejects every device that is not bound by default", async (t) => {
		const started = await startProgram(t);
		const { status, body } = await bootstrap(started, BOARD);
		assert.equal(status, 403);
		assert.match(body.message, /bootstrap/);
		assert.equal(await activate(started, BOARD), 404);
	});

	it("is limited as other requests are", async (t) => {
		const started = await startProgram(t, { bootstrap: "open", maxRequestsPerMinute: 3 });
		const statuses = [];
		for (let count = 0; count < 5; count += 1) {
			statuses.push((await bootstrap(started, BOARD)).status);
		}
		assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
	});
});

describe("the token of a device that the bootstrap lets in", () => {
	it("is made if devices need one, stays the same, and does not pile up", async (t) => {
		const started = await startProgram(t, { bootstrap: "open", mqtt: true });
		await started.tokens.add({ name: "others", kind: "device" });
		const tokens = [];
		for (let count = 0; count < 3; count += 1) {
			tokens.push((await bootstrap(started, BOARD)).body.websocket.token);
		}
		assert.match(tokens[0], /^xsmcp_[A-Za-z0-9_-]{43}$/);
		assert.equal(new Set(tokens).size, 1);
		started.tokens.refresh();
		const found = started.tokens.records.map(({ name, devices }) => [name, devices]);
		assert.deepEqual(found, [
			["others", undefined],
			[`device:${BOARD.id}`, [BOARD.id]],
		]);
		assert.ok(!JSON.stringify(started.tokens.records).includes(tokens[0]));
	});

	it("survives a restart of the gateway", async (t) => {
		const first = await startProgram(t, { bootstrap: "approve" });
		const { code } = (await bootstrap(first, BOARD)).body.activation;
		await fetch(`${first.base}/bindings/${code}`, { method: "POST" });
		const { token } = (await bootstrap(first, BOARD)).body.websocket;
		await first.gateway.close();
		const again = await startProgram(t, { bootstrap: "closed" }, first.stateFolder);
		assert.equal((await bootstrap(again, BOARD)).body.websocket.token, token);
		assert.equal((await bootstrap(again, STRANGER)).status, 403);
	});

	it("admits the device over WebSocket and over MQTT, and no other device", async (t) => {
		const started = await startProgram(t, { bootstrap: "open", mqtt: true });
		await started.tokens.add({ name: "others", kind: "device" });
		const { websocket, mqtt } = (await bootstrap(started, BOARD)).body;
		const headers = { "device-id": BOARD.id, authorization: `Bearer ${websocket.token}` };
		const { mcp, socket } = await connectWebSocket(t, websocket.url, { headers });
		mcp.say(familyHello("websocket"));
		assert.equal(await callLamp(started, BOARD.id), "true");
		socket.terminate();
		const access = { clientId: mqtt.client_id, username: mqtt.username, password: mqtt.password };
		const overMqtt = await connectMqtt(t, `mqtt://${mqtt.endpoint}`, access);
		overMqtt.mcp.say(familyHello("udp"));
		assert.equal(await callLamp(started, BOARD.id), "true");
		await assert.rejects(connectMqtt(t, `mqtt://${mqtt.endpoint}`, { ...access, clientId: "another" }));
		const other = { headers: { ...headers, "device-id": "another" } };
		await assert.rejects(connectWebSocket(t, websocket.url, other), /401/);
	});

	it("is no longer valid once it is removed, and the device has to be bound again", async (t) => {
		const started = await startProgram(t, { bootstrap: "approve" });
		const bind = async () => {
			const { code } = (await bootstrap(started, BOARD)).body.activation;
			await fetch(`${started.base}/bindings/${code}`, { method: "POST" });
			return (await bootstrap(started, BOARD)).body.websocket.token;
		};
		const first = await bind();
		await started.tokens.remove(`device:${BOARD.id}`);
		assert.notEqual(await bind(), first);
		const headers = { "device-id": BOARD.id, authorization: `Bearer ${first}` };
		await assert.rejects(connectWebSocket(t, started.deviceUrl, { headers }), /401/);
	});

	it("is rejected by a gateway that is beyond loopback until a device is bound", async (t) => {
		const listen = { websocketAddress: "0.0.0.0", bootstrap: "approve" };
		const started = await startProgram(t, listen);
		assert.match((await bootstrap(started, BOARD, { body: systemInfo(BOARD) })).body.activation.code, /^[0-9]{6}$/);
		const headers = { "device-id": BOARD.id };
		await assert.rejects(connectWebSocket(t, started.deviceUrl, { headers }), /401/);
	});
});
