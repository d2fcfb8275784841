import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { it } from "node:test";
import { listen } from "../../../host-test/support/listen.js";
import { until } from "../../../host-test/support/until.js";
import { startGateway, WireDevice } from "../support/gateway.js";

const META = "io.modelcontextprotocol/";
const LISTEN = {
	jsonrpc: "2.0",
	id: 1,
	method: "subscriptions/listen",
	params: {
		notifications: { resourceSubscriptions: ["device://lamp_000001/x"] },
		_meta: { [`${META}protocolVersion`]: "2026-07-28", [`${META}clientCapabilities`]: {} },
	},
};

it("a client that has disconnected before its request is served leaves no subscription behind", async (t) => {
	const side = await startGateway(t);
	const device = await WireDevice.connect(t, side, {
		capabilities: { tools: {}, resources: { subscribe: true } },
		answers: { ping: () => ({}), "resources/list": () => ({ resources: [{ uri: "device://self/x", name: "x" }] }) },
	});
	await until(() => side.gateway.servers.all[0]?.offers.resources.length === 1, "its resource is known");
	let isServed = false;
	const server = createServer(async (request, response) => {
		request.resume();
		await once(response, "close");
		await side.endpoint.handle(request, response, { access: side.access, server: undefined, body: LISTEN });
		isServed = true;
	});
	const socket = connect(await listen(t, server), "127.0.0.1");
	socket.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", () => socket.destroy());
	await until(() => isServed, "the request is served");
	await side.gateway.servers.all[0]?.session?.ping();
	assert.deepEqual(
		device.methods.filter((method) => method.startsWith("resources/subscribe")),
		[],
	);
});
