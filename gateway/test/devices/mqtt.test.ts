import assert from "node:assert/strict";
import { once } from "node:events";
import { createConnection } from "node:net";
import { describe, it } from "node:test";
import mqtt from "mqtt";
import mqttPacket from "mqtt-packet";
import { until } from "../../../host-test/support/until.js";
import { untilClosed } from "../../../host-test/support/until-closed.js";
import { startProgram } from "../support/program.js";

const LAMP = "aa:bb:cc:00:00:01";

describe("a device over MQTT", () => {
	it("loses its connection to the broker when its token is removed", async (t) => {
		const started = await startProgram(t, { mqtt: true });
		await started.tokens.add({ name: "others", kind: "device" });
		const password = await started.tokens.add({ name: "lamp", kind: "device" });
		const options = { clientId: LAMP, username: "lamp", password, reconnectPeriod: 0 };
		const client = await mqtt.connectAsync(started.program.urls.mqtt as string, options);
		t.after(() => client.endAsync(true));
		client.on("error", () => {});
		const closed = once(client as never, "close");
		await started.tokens.remove("lamp");
		await closed;
	});

	it("that speaks MQTT 5 is rejected with its id, the reason and the cure, and is told the reason", async (t) => {
		const started = await startProgram(t, { mqtt: true });
		const options = { clientId: LAMP, protocolVersion: 5, reconnectPeriod: 0 } as const;
		await assert.rejects(mqtt.connectAsync(started.program.urls.mqtt as string, options), /[Pp]rotocol [Vv]ersion/);
		const reason = `${LAMP}: MQTT 5 is not supported: set the device to MQTT 3.1.1, or use a broker with MQTT 5 (brokerUrl)`;
		await until(() => started.log().includes(reason), reason);
	});

	it("is disconnected when more of its QoS 2 messages wait for PUBREL than the broker keeps", async (t) => {
		const started = await startProgram(t, { mqtt: true });
		const socket = createConnection(Number(new URL(started.program.urls.mqtt as string).port), "127.0.0.1");
		socket.write(
			mqttPacket.generate({
				cmd: "connect",
				protocolId: "MQTT",
				protocolVersion: 4,
				clean: false,
				clientId: LAMP,
				keepalive: 0,
			}),
		);
		socket.resume();
		const closed = untilClosed(socket);
		for (let messageId = 1; messageId <= 300; messageId += 1) {
			const topic = `xs-mcp/${LAMP}/up`;
			socket.write(
				mqttPacket.generate({ cmd: "publish", topic, payload: "{}", qos: 2, messageId, dup: false, retain: false }),
			);
		}
		await closed;
		assert.match(started.log(), /inbound QoS 2 messages|queue limit reached/);
	});
});
