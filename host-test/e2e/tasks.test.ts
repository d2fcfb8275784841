import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { serveClients } from "../../gateway/test/support/gateway.js";
import { callForTask, connectForTasks } from "../../gateway/test/support/tasks.js";
import { bundle } from "../../virtual-device/src/index.js";
import { until } from "../support/until.js";
import { ENGINE, EVERYTHING, openOverWebSocket, startDevice } from "./fixtures.js";

// A device whose tools take long, the gateway that makes their calls tasks, and a client that knows tasks.

const script = await bundle(EVERYTHING);

async function start(t: TestContext) {
	const { gateway, config } = await openOverWebSocket(t);
	const side = await serveClients(t, gateway);
	await startDevice(t, ENGINE, { config, script, macAddress: "02:00:00:00:00:01" });
	await until(() => gateway.servers.all.some(({ online }) => online), "the device is online");
	const begin = async (name: string, args: object): Promise<string> =>
		(await callForTask(side, `virtual_000001__${name}`, args)).result.taskId;
	return { begin, user: await connectForTasks(t, side.clientUrl()) };
}

describe(`a device on ${ENGINE.kind} with tools that take long`, () => {
	it("answers one, while another is cancelled", async (t) => {
		const { begin, user } = await start(t);
		const endless = await begin("slow_compute", { seconds: 300 });
		const short = await begin("slow_compute", { seconds: 0.1, label: "soup" });
		const { result } = await user.in(short, "completed", "failed");
		assert.deepEqual(result, {
			content: [{ type: "text", text: "computed soup" }],
			isError: false,
			resultType: "complete",
		});
		await user.cancel(endless);
		assert.equal((await user.get(endless)).status, "cancelled");
	});

	it("asks before it does something, and gets the answer", async (t) => {
		const { begin, user } = await start(t);
		const id = await begin("confirm_delete", { filename: "a.txt" });
		const { inputRequests } = await user.in(id, "input_required");
		const [[key, question]] = Object.entries(inputRequests as object) as [[string, { params: { message: string } }]];
		assert.equal(question.params.message, "Delete a.txt?");
		await user.update(id, { [key]: { action: "accept", content: {} } });
		const { result } = await user.in(id, "completed", "failed");
		assert.match(JSON.stringify(result), /deleted a\.txt/);
	});
});
