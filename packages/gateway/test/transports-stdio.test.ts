import assert from "node:assert/strict";
import { it } from "node:test";
import { typeScript } from "../../../host-test/support/program.js";
import { cases } from "../../../host-test/support/scope.js";
import { connectOverStdio } from "../../../host-test/support/stdio-client.js";
import { until } from "../../../host-test/support/testing.js";
import { ERAS, toolNames, WireDevice } from "../testing/gateway.js";

for (const [era, options] of cases(Object.entries(ERAS))) {
	it(`a client of ${era}, over standard input and output, may be given one device before the gateway knows it`, async (t) => {
		const args = typeScript("packages/gateway/testing/stdio.ts", "lamp_000002");
		const { client, log } = await connectOverStdio(t, args, {}, options);
		await until(() => log().includes("devices: "), "the gateway listens");
		const url = `ws://127.0.0.1:${/devices: (\d+)/.exec(log())?.[1]}/`;
		await WireDevice.connectTo(t, url, { id: "aa:bb:cc:00:00:01" });
		await WireDevice.connectTo(t, url, { id: "aa:bb:cc:00:00:02" });
		await until(async () => (await toolNames(client)).length > 0, "the device is known");
		assert.deepEqual(await toolNames(client), ["self_audio_speaker_set_volume"]);
	});
}
