import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cases } from "../../../host-test/support/scope.js";
import { until } from "../../../host-test/support/testing.js";
import { connectClient, ERAS, LAMP, startGateway, startWithDevice, WireDevice } from "../testing/gateway.js";

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`completion and URIs, for clients of ${era}`, () => {
		it("suggest nothing for an offline device, and do not wait for it", async (t) => {
			const side = await startGateway(t, { offlineWait: 3_600_000 });
			const device = await WireDevice.connect(t, side, {
				capabilities: { tools: {}, prompts: {}, completions: {} },
				answers: { "prompts/list": () => ({ prompts: [{ name: "evening" }] }) },
			});
			const client = await connectClient(t, side.clientUrl(), era);
			await until(() => side.gateway.servers.find(LAMP)?.offers.prompts.length === 1, "its prompt is known");
			await device.unplug();
			const ref = { type: "ref/prompt", name: "lamp_000001__evening" } as const;
			const { completion } = await client.complete({ ref, argument: { name: "mood", value: "" } });
			assert.deepEqual(completion.values, []);
		});

		it("suggest the aliases of devices for the template of their state", async (t) => {
			const { side } = await startWithDevice(t);
			await WireDevice.connect(t, side, { id: "aa:bb:cc:00:00:02" });
			const client = await connectClient(t, side.clientUrl(), era);
			const complete = async (value: string, name = "alias") => {
				const ref = { type: "ref/resource", uri: "device://{alias}/state" } as const;
				return (await client.complete({ ref, argument: { name, value } })).completion.values;
			};
			assert.deepEqual(await complete("la"), ["lamp_000001", "lamp_000002"]);
			assert.deepEqual(await complete("lamp_000002"), ["lamp_000002"]);
			assert.deepEqual(await complete("x"), []);
			assert.deepEqual(await complete("", "other"), []);
		});

		it("know a device by its alias, not by its id", async (t) => {
			const side = await startGateway(t);
			await WireDevice.connect(t, side, {
				capabilities: { tools: {}, resources: { subscribe: true } },
				answers: { "resources/read": ({ params: { uri } }) => ({ contents: [{ uri, text: "" }] }) },
			});
			const client = await connectClient(t, side.clientUrl(), era);
			for (const rest of ["state", "x"]) {
				await client.readResource({ uri: `device://lamp_000001/${rest}` });
				await assert.rejects(client.readResource({ uri: `device://${LAMP}/${rest}` }), /not found/i);
			}
		});
	});
}
