import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/until.js";
import { startBroker } from "../support/broker.js";
import { CONVERSATION, callLamp, connectMqtt, familyHello } from "../support/family.js";
import { startProgram } from "../support/program.js";

const ID = "aa:bb:cc:00:00:03";

/** A gateway with its own broker, and a device that is connected to it. */
async function start(t: Parameters<typeof startProgram>[0]) {
	const started = await startProgram(t, { mqtt: true });
	return { started, ...(await connectMqtt(t, started.program.urls.mqtt as string, { clientId: ID })) };
}

describe("a device of the family over MQTT", () => {
	for (const transport of ["udp", undefined]) {
		it(`gets a UDP channel that both firmwares accept if its hello has the transport ${transport}`, async (t) => {
			const { started, client, mcp } = await start(t);
			await client.subscribeAsync(`xs-mcp/${ID}/down`, { qos: 1 });
			mcp.say(familyHello(transport, 3));
			assert.equal(await callLamp(started, ID), "true");
			const { transport: answered, udp, session_id: sessionId } = mcp.first("hello") as never as Hello;
			assert.equal(answered, "udp");
			assert.equal(typeof udp.server, "string");
			assert.ok(Number.isInteger(udp.port) && udp.port > 0 && udp.port < 65_536);
			assert.match(udp.key, /^[0-9a-f]{32}$/);
			assert.match(udp.nonce, /^[0-9a-f]{32}$/);
			assert.match(sessionId, /./);
		});
	}

	it("gets the transport that it names if it has no UDP channel", async (t) => {
		const { started, mcp } = await start(t);
		mcp.say(familyHello("mqtt"));
		assert.equal(await callLamp(started, ID), "true");
		const hello = mcp.first("hello");
		assert.deepEqual([hello?.transport, hello?.udp], ["mqtt", undefined]);
	});

	it("may say what belongs to a conversation, with or without its session id", async (t) => {
		const { started, mcp } = await start(t);
		mcp.say(familyHello("udp"));
		for (const sessionId of ["", undefined]) {
			mcp.sessionId = sessionId;
			CONVERSATION.forEach((message) => void mcp.say(message));
			assert.equal(await callLamp(started, ID), "true");
		}
		assert.doesNotMatch(started.log(), /dropped|rejected/);
	});

	it("can be called though it says hello only when a conversation begins", async (t) => {
		const { started, mcp } = await start(t);
		assert.equal(await callLamp(started, ID), "true");
		assert.equal(mcp.first("hello"), undefined);
	});

	it("can be called though it does not stop talking of an earlier session", async (t) => {
		const { started, mcp } = await start(t);
		mcp.sessionId = "of-yesterday";
		const timer = setInterval(() => mcp.say({ type: "listen", state: "start", mode: "auto" }), 100);
		t.after(() => clearInterval(timer));
		assert.equal(await callLamp(started, ID), "true");
	});

	it("is left alone after its goodbye through another broker", async (t) => {
		const brokerUrl = await startBroker(t);
		const started = await startProgram(t, { brokerUrl });
		const [lamp, other] = await Promise.all(
			[ID, "other"].map(async (clientId) => {
				const device = await connectMqtt(t, brokerUrl, { clientId });
				await device.client.subscribeAsync(`xs-mcp/${clientId}/down`);
				return device.mcp;
			}),
		);
		lamp?.say(familyHello("udp"));
		assert.equal(await callLamp(started, ID), "true");
		const offline = once(started.gateway.servers, "disconnected");
		lamp?.say({ type: "goodbye", session_id: lamp.first("hello")?.session_id });
		await offline;
		// An answer to what the gateway asked before it knew of the goodbye.
		lamp?.say({ type: "mcp", payload: { jsonrpc: "2.0", id: 7, result: {} } });
		// This one gets a session without a hello, later than the other would.
		other?.say({ type: "listen", state: "start", mode: "auto" });
		assert.equal(await callLamp(started, "other"), "true");
		assert.equal(lamp?.received.filter(({ payload }) => payload?.method === "initialize").length, 1);
	});

	it("can be called during a conversation, and after its goodbye", async (t) => {
		const { started, mcp } = await start(t);
		assert.equal(await callLamp(started, ID), "true");
		mcp.say(familyHello("udp"));
		await until(() => mcp.first("hello") !== undefined, "the hello is answered");
		mcp.sessionId = mcp.first("hello")?.session_id as string;
		assert.equal(await callLamp(started, ID), "true");
		const offline = once(started.gateway.servers, "disconnected");
		mcp.say({ type: "goodbye" });
		await offline;
		assert.equal(await callLamp(started, ID), "true");
	});
});

interface Hello {
	readonly transport: string;
	readonly session_id: string;
	readonly udp: { readonly server: string; readonly port: number; readonly key: string; readonly nonce: string };
}
