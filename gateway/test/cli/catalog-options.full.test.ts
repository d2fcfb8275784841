import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cases } from "../../../host-test/support/scope.js";
import { until } from "../../../host-test/support/until.js";
import { ask, LAMP, start, startClient, VOLUME } from "../support/command-line.js";
import { ERAS, WireDevice } from "../support/gateway.js";
import { startProgram, startProgramWithDevice } from "../support/program.js";

const CATALOG_TOOLS = ["servers_list", "tools_search", "tool_describe", "tool_read", "tool_call"];

describe("the catalog on the command line", () => {
	for (const [revision, era] of cases(Object.entries(ERAS))) {
		it(`a bridge of ${revision} gets the one that its options name, and calls a tool with progress`, async (t) => {
			const started = await startProgram(t);
			const picture = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
			let answer = (): void => {};
			await WireDevice.connect(t, started, {
				id: LAMP,
				onCall({ id, progressToken }, device) {
					answer = () => device.answer(id, { content: [picture] });
					device.notify("notifications/progress", { progressToken, progress: 1 });
					return undefined;
				},
			});
			const args = ["stdio", "--catalog", "search", "--pinned-tools", "lamp_000001__self_audio*"];
			const { client } = await startClient(t, args, { XS_MCP_GATEWAY_URL: started.base }, era);
			const { tools } = await client.listTools();
			const names = tools.map(({ name }) => name);
			assert.deepEqual(names, [...CATALOG_TOOLS, VOLUME]);
			const params = { name: "tool_call", arguments: { name: VOLUME, arguments: { volume: 1 } } };
			const result = await client.callTool(params, { onprogress: () => answer() });
			assert.deepEqual(result.content, [picture]);
		});
	}

	it("a bridge ends with an error if the gateway does not take its options", async (t) => {
		const { base } = await startProgram(t);
		const { child, exited, output } = start(t, ["stdio", "--catalog-limit", "many"], { XS_MCP_GATEWAY_URL: base });
		const refusal = "catalogLimit: expected a whole number";
		await until(() => output.stderr.includes(refusal), refusal);
		child.stdin?.end();
		assert.notEqual(await exited, 0);
	});

	it("the commands tools and call work on every tool, whatever the setting catalog says", async (t) => {
		const { started } = await startProgramWithDevice(t, { id: LAMP }, { catalog: "search" });
		const { stdout } = await ask(started)(t, "tools", "lamp_000001");
		assert.match(stdout, /^self_audio_speaker_set_volume/);
		const called = await ask(started)(t, "call", "lamp_000001", "self.audio_speaker.set_volume", "volume=3");
		assert.equal(called.code, 0, called.stderr);
	});
});
