import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { typeScript } from "../../../../host-test/support/program.js";
import { cases } from "../../../../host-test/support/scope.js";
import { connectOverStdio } from "../../../../host-test/support/stdio-client.js";
import { until } from "../../../../host-test/support/testing.js";
import { ERAS, toolNames, WireDevice } from "../../testing/gateway.js";

/** The tools of {@link WireDevice}, as a catalog of all devices lists them. */
const [VOLUME, REBOOT] = ["lamp_000001__self_audio_speaker_set_volume", "lamp_000001__self_reboot"];

async function start(test: TestContext, era: keyof typeof ERAS, ...device: string[]) {
	const args = typeScript("packages/gateway/testing/stdio.ts", ...device);
	const { client, log } = await connectOverStdio(test, args, {}, ERAS[era]);
	await until(() => log().includes("devices: "), "the gateway listens");
	return { client, url: `ws://127.0.0.1:${/devices: (\d+)/.exec(log())?.[1]}/` };
}

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`a client of ${era}, over standard input and output`, () => {
		it("lists and calls tools, and is told of devices that connect", async (t) => {
			const { client, url } = await start(t, era);
			assert.equal(client.getNegotiatedProtocolVersion(), era);
			let told = 0;
			client.setNotificationHandler("notifications/tools/list_changed", () => {
				told += 1;
			});
			if (era === "2026-07-28") {
				await client.listen({ toolsListChanged: true });
			}
			assert.deepEqual(await toolNames(client), []);
			await WireDevice.connectTo(t, url);
			await until(() => told === 1, "told");
			assert.deepEqual(await toolNames(client), [VOLUME]);
			const { content } = await client.callTool({ name: VOLUME, arguments: { volume: 1 } });
			assert.deepEqual(content, [{ type: "text", text: "true" }]);
			await assert.rejects(client.callTool({ name: REBOOT }), { code: -32602 });
		});

		it("may be given one device before the gateway knows it", async (t) => {
			const { client, url } = await start(t, era, "lamp_000002");
			await WireDevice.connectTo(t, url, { id: "aa:bb:cc:00:00:01" });
			await WireDevice.connectTo(t, url, { id: "aa:bb:cc:00:00:02" });
			await until(async () => (await toolNames(client)).length > 0, "the device is known");
			assert.deepEqual(await toolNames(client), ["self_audio_speaker_set_volume"]);
		});
	});
}
