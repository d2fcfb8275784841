import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { cases } from "../../../host-test/support/scope.js";
import { until } from "../../../host-test/support/testing.js";
import { connectClient, ERAS } from "../testing/gateway.js";
import { startProgramWithDevice } from "../testing/program.js";

const VOLUME = { name: "lamp_000001__self_audio_speaker_set_volume", arguments: { volume: 1 } };

const text = ({ content }: { content: unknown }): string => (content as { text: string }[])[0]?.text ?? "";

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`a client of ${era}, when the gateway stops`, () => {
		const start = async (t: TestContext, drainTime: number, onCall = (): object | undefined => undefined) => {
			const { started, device } = await startProgramWithDevice(t, { onCall }, { drainTime });
			const client = await connectClient(t, new URL(`${started.base}/mcp`), era);
			return { started, device, client };
		};

		it("is answered with an error where a call does not end in time, and connections are closed", async (t) => {
			const { started, device, client } = await start(t, 50);
			const call = client.callTool(VOLUME);
			await until(() => device.calls.length === 1, "the call is under way");
			const stopped = started.gateway.close();
			const result = await call;
			assert.equal(result.isError, true);
			assert.match(text(result), /disconnected during the call, which may have been carried out/);
			await stopped;
			await assert.rejects(fetch(`${started.base}/healthz`));
		});

		it("gets the answer to a call that ends in time, and no new call is taken", async (t) => {
			const { started, device, client } = await start(t, 10_000);
			const call = client.callTool(VOLUME);
			await until(() => device.calls.length === 1, "the call is under way");
			const stopped = started.gateway.close();
			await assert.rejects(client.callTool(VOLUME));
			device.answer(device.calls[0]?.id as number, { content: [{ type: "text", text: "just in time" }] });
			assert.equal(text(await call), "just in time");
			await stopped;
			assert.equal(device.calls.length, 1);
		});

		it("is answered at once where a call waits for an offline device", async (t) => {
			const { started, device, client } = await start(t, 10_000);
			await device.unplug();
			const call = client.callTool(VOLUME);
			await new Promise((resolve) => setTimeout(resolve, 100));
			const stopped = started.gateway.close();
			assert.match(text(await call), /shutting down/);
			await stopped;
		});
	});
}
