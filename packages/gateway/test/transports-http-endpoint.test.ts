import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { cases } from "../../../host-test/support/scope.js";
import { testWith, until } from "../../../host-test/support/testing.js";
import {
	connectClient,
	ERAS,
	LOCAL,
	SET_VOLUME,
	startGateway,
	startWithDevice,
	type TestGateway,
	toolNames,
	WireDevice,
	type WireDeviceOptions,
} from "../testing/gateway.js";
import { postStateless } from "../testing/post-stateless.js";
import { openSession } from "../testing/raw-session.js";

const [FIRST, SECOND] = ["aa:bb:cc:00:00:01", "aa:bb:cc:00:00:02"];
const NAMES = {
	first: "lamp_000001__self_audio_speaker_set_volume",
	second: "lamp_000002__self_audio_speaker_set_volume",
	alone: "self_audio_speaker_set_volume",
	reboot: "lamp_000001__self_reboot",
};

async function setVolume(client: Client, name: string, volume: number) {
	return await client.callTool({ name, arguments: { volume } });
}

const text = (result: { content: unknown }): string => (result.content as { text: string }[])[0]?.text ?? "";

const itWithDevice = testWith(startWithDevice);
const itGateway = testWith(startGateway);

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`a client of ${era}, over Streamable HTTP`, () => {
		const connect = (t: TestContext, side: TestGateway, device?: string): Promise<Client> =>
			connectClient(t, side.clientUrl(device), era);

		const start = async (t: TestContext, deviceOptions: WireDeviceOptions = {}) => {
			const { side, device } = await startWithDevice(t, {}, deviceOptions);
			return { side, device, client: await connect(t, side) };
		};

		async function countChanges(client: Client): Promise<() => number> {
			let count = 0;
			client.setNotificationHandler("notifications/tools/list_changed", () => {
				count += 1;
			});
			if (era === "2026-07-28") {
				await client.listen({ toolsListChanged: true });
			}
			return () => count;
		}

		itWithDevice("sees only one device on that device's path", async ({ side }, t) => {
			const second = await WireDevice.connect(t, side, { id: SECOND });
			const client = await connect(t, side, "lamp_000002");
			assert.deepEqual(await toolNames(client), [NAMES.alone]);
			for (const name of [NAMES.alone, SET_VOLUME.name, NAMES.second]) {
				await setVolume(client, name, 2);
			}
			assert.equal(second.calls.length, 3, "the device's own name and the name on /mcp work too");
			await assert.rejects(setVolume(client, NAMES.first, 1), { code: -32602, message: /Unknown tool/ });
			assert.deepEqual(await toolNames(await connect(t, side, FIRST)), [NAMES.alone], "by id too");
			await assert.rejects(connect(t, side, "nobody"));
		});

		it("follows devices that connect, disconnect, return and change their tools, without a new connection", async (t) => {
			const { side, device: first, client } = await start(t);
			assert.equal(client.getNegotiatedProtocolVersion(), era);
			assert.match(client.getInstructions() ?? "", /two underscores/);
			const changes = await countChanges(client);
			assert.deepEqual(await toolNames(client), [NAMES.first]);

			const second = await WireDevice.connect(t, side, { id: SECOND });
			await until(() => changes() === 1, "told of the second device");
			assert.deepEqual(await toolNames(client), ["tool_call", NAMES.first, NAMES.second]);

			await second.unplug();
			await WireDevice.connect(t, side, { id: SECOND });
			assert.equal(text(await setVolume(client, NAMES.second, 2)), "true");

			first.changeTools([{ ...SET_VOLUME, name: "blink" }]);
			await until(() => changes() >= 2, "told of the new tools");
			assert.deepEqual(await toolNames(client), ["lamp_000001__blink", NAMES.second]);
			assert.equal(changes(), 2, "not told of a device that returned unchanged");
		});

		it("is told what was wrong with its arguments", async (t) => {
			const { device, client } = await start(t);
			await client.listTools();
			const result = await setVolume(client, NAMES.first, 101);
			assert.deepEqual([result.isError, text(result)], [true, "volume: must be <= 100"]);
			assert.equal(device.calls.length, 0);
		});

		it("is told that no device has a tool", async (t) => {
			const { client } = await start(t);
			for (const name of ["nothing", "lamp_000001__nothing", "lamp_000009__self_reboot", "__", ""]) {
				await assert.rejects(client.callTool({ name }), { code: -32602, message: new RegExp(`Unknown tool: ${name}`) });
			}
		});

		it("is told that a device is offline, after waiting for it", async (t) => {
			const { side, device } = await startWithDevice(t, { offlineWait: 50 });
			const client = await connect(t, side);
			await device.unplug();
			assert.deepEqual(await toolNames(client), [NAMES.first], "its tools are still listed");
			const result = await setVolume(client, NAMES.first, 1);
			assert.equal(result.isError, true);
			assert.match(text(result), /lamp_000001 is offline .* last seen at 20.*Nothing was sent to it/);
			assert.deepEqual(result._meta?.["xs-mcp/error"], "server-offline");
		});

		itGateway("gets the progress of a call", async (side, t) => {
			// Answers once the client has been told: the SDK's client drops progress that comes together with the answer.
			let answer = (): void => {};
			await WireDevice.connect(t, side, {
				onCall({ id, progressToken }, device) {
					answer = () => device.answer(id, { content: [{ type: "text", text: "done" }] });
					device.notify("notifications/progress", { progressToken, progress: 1, total: 2, message: "half" });
					return undefined;
				},
			});
			const client = await connect(t, side);
			const progress: unknown[] = [];
			const result = await client.callTool(
				{ name: NAMES.first, arguments: { volume: 1 } },
				{
					onprogress(step) {
						progress.push(step);
						answer();
					},
				},
			);
			assert.equal(text(result), "done");
			assert.deepEqual(progress, [{ progress: 1, total: 2, message: "half" }]);
		});

		it("may wait for longer than the time-out of a call, as long as the call reports progress", async (t) => {
			const callTimeout = 500;
			const side = await startGateway(t, { callTimeout });
			await WireDevice.connect(t, side, {
				onCall({ id, progressToken }, device) {
					const end = Date.now() + 3 * callTimeout;
					let progress = 0;
					const timer = setInterval(() => {
						progress += 1;
						device.notify("notifications/progress", { progressToken, progress });
						if (Date.now() > end) {
							clearInterval(timer);
							device.answer(id, { content: [{ type: "text", text: "done" }] });
						}
					}, callTimeout / 10);
					return undefined;
				},
			});
			const client = await connect(t, side);
			const call = { name: NAMES.first, arguments: { volume: 1 } };
			assert.equal(text(await client.callTool(call, { onprogress: () => {} })), "done");
			assert.equal((await client.callTool(call))._meta?.["xs-mcp/error"], "timeout", "who asks for none gets none");
		});

		it("cancels a call on the device", async (t) => {
			const { device, client } = await start(t, { onCall: () => undefined });
			const controller = new AbortController();
			const call = client.callTool({ name: NAMES.first, arguments: { volume: 1 } }, { signal: controller.signal });
			await until(() => device.calls.length === 1, "the device works on it");
			controller.abort();
			await assert.rejects(call);
			await until(() => device.cancelled.length === 1, "the device is told");
			assert.equal(device.cancelled[0], device.calls[0]?.id);
		});

		it("has every call checked by the program that serves it", async (t) => {
			const checked: object[] = [];
			const checkCall = async (_server: object, { name }: { name: string }, args: object) =>
				void checked.push({ name, args });
			const { side } = await startWithDevice(t, { checkCall });
			await setVolume(await connect(t, side), NAMES.first, 5);
			assert.deepEqual(checked, [{ name: SET_VOLUME.name, args: { volume: 5 } }]);
		});

		itGateway("is told at once that the device's answer nests too deep", async (side, t) => {
			const structuredContent = JSON.parse(`{"a":${"[".repeat(100)}${"]".repeat(100)}}`);
			await WireDevice.connect(t, side, { onCall: () => ({ content: [], structuredContent }) });
			const client = await connect(t, side);
			const result = await setVolume(client, NAMES.first, 1);
			assert.deepEqual([result.isError, result._meta?.["xs-mcp/error"]], [true, "invalid-result"]);
			assert.match(JSON.stringify(result.content), /nested deeper than 100 levels/);
		});

		it("sees and calls user-only tools if its access allows it, for all devices or for some", async (t) => {
			const { side, device } = await startWithDevice(t);
			const models = await connect(t, side);
			assert.deepEqual(await toolNames(models), [NAMES.first]);
			await assert.rejects(models.callTool({ name: NAMES.reboot }), { code: -32602 });
			assert.equal(device.calls.length, 0);

			side.access = { principal: "admin", userTools: true };
			const admin = await connect(t, side);
			assert.deepEqual(await toolNames(admin), [NAMES.first, NAMES.reboot]);
			assert.equal(text(await admin.callTool({ name: NAMES.reboot })), "true");

			await WireDevice.connect(t, side, { id: SECOND });
			side.access = { principal: "some", userTools: new Set([SECOND]) };
			const some = await connect(t, side);
			assert.deepEqual(await toolNames(some), ["tool_call", NAMES.first, NAMES.second, "lamp_000002__self_reboot"]);
		});

		itWithDevice("reaches only the devices that its access names", async ({ side }, t) => {
			await WireDevice.connect(t, side, { id: SECOND });
			side.access = { principal: "guest", userTools: false, devices: new Set([SECOND]) };
			const client = await connect(t, side);
			assert.deepEqual(await toolNames(client), [NAMES.second]);
			await assert.rejects(setVolume(client, NAMES.first, 1), { code: -32602 });
			await assert.rejects(connect(t, side, "lamp_000001"));
		});

		it("reads a long list page by page", async (t) => {
			const side = await startGateway(t, { catalog: "full" });
			const tools = Array.from({ length: 700 }, (_, index) => ({ ...SET_VOLUME, name: `tool_${index}` }));
			await WireDevice.connect(t, side, { tools });
			const client = await connect(t, side);
			assert.deepEqual(
				await toolNames(client),
				tools.map(({ name }) => `lamp_000001__${name}`),
			);
			const page = await client.request({ method: "tools/list", params: { cursor: "lamp_000001__tool_699" } });
			assert.equal(page.tools.length, 1);
			await assert.rejects(client.request({ method: "tools/list", params: { cursor: "removed" } }), { code: -32602 });
		});
	});
}

it("a list of tools, in 2026-07-28, may be shared by caches only if everybody sees the same", async (t) => {
	const { side } = await startWithDevice(t);
	const cacheOf = async (): Promise<unknown[]> => {
		const client = await connectClient(t, side.clientUrl(), "2026-07-28");
		const result = await client.request({ method: "tools/list" });
		return [result.ttlMs, result.cacheScope];
	};
	assert.deepEqual(await cacheOf(), [5_000, "public"]);
	side.access = { ...LOCAL, principal: "token" };
	assert.deepEqual(await cacheOf(), [5_000, "private"]);
});

describe("the headers Mcp-Param-*, in 2026-07-28", () => {
	const REGION = {
		name: "show",
		inputSchema: {
			type: "object",
			properties: { region: { type: "string", "x-mcp-header": "Region" }, level: { type: "integer" } },
		},
	};

	it("are sent by the SDK's client, and accepted", async (t) => {
		const { side, device } = await startWithDevice(t, {}, { tools: [REGION] });
		const client = await connectClient(t, side.clientUrl(), "2026-07-28");
		await client.listTools();
		for (const region of ["north", "Süd"]) {
			assert.equal(text(await client.callTool({ name: "lamp_000001__show", arguments: { region } })), "true");
		}
		const args = device.calls.map((call) => call.arguments);
		assert.deepEqual(args, [{ region: "north" }, { region: "Süd" }]);
	});

	it("must be the same as the arguments that a tool declares them for", async (t) => {
		const { side, device } = await startWithDevice(t, {}, { tools: [REGION] });
		const call = (name: string, args: object, headers: Record<string, string> = {}) => {
			const url = side.clientUrl(name === "show" ? FIRST : undefined);
			return postStateless(url, "tools/call", { name, arguments: args }, { headers });
		};
		for (const name of ["lamp_000001__show", "show"]) {
			for (const region of [undefined, "south", "=?base64?!?="]) {
				const headers: Record<string, string> = region === undefined ? {} : { "mcp-param-region": region };
				const { status, message } = await call(name, { region: "north" }, headers);
				assert.deepEqual([status, message.error.code], [400, -32_020]);
				assert.match(message.error.message, /Mcp-Param-Region/);
			}
			assert.equal((await call(name, { region: "north" }, { "mcp-param-region": "north" })).status, 200);
			assert.equal((await call(name, { level: 1 })).status, 200, "nothing to compare");
		}
		assert.equal(device.calls.length, 4);
		assert.match((await call("nothing", {})).message.error.message, /Unknown tool/);
	});
});

describe("revisions before 2025-11-25", () => {
	async function call(side: TestGateway, revision: string, args: object) {
		const { ask } = await openSession(side.clientUrl(), revision);
		return await ask("tools/call", { name: NAMES.first, arguments: args });
	}

	itWithDevice("have arguments that break the schema as an error of the protocol", async ({ side }) => {
		const { error } = await call(side, "2025-06-18", { volume: "loud" });
		assert.deepEqual([error.code, error.message], [-32602, "volume: must be integer"]);
	});

	itGateway("get contents as text that only later revisions have", async (side, t) => {
		const audio = { type: "audio", data: "AAAA", mimeType: "audio/wav" };
		const link = { type: "resource_link", uri: "https://lamp.example/log", name: "log", description: "What happened." };
		const image = { type: "image", data: "AAAA", mimeType: "image/png" };
		const structuredContent = { celsius: 20 };
		await WireDevice.connect(t, side, { onCall: () => ({ content: [audio, link, image], structuredContent }) });
		const resultFor = async (revision: string) => (await call(side, revision, { volume: 1 })).result;

		assert.deepEqual(await resultFor("2025-06-18"), { content: [audio, link, image], structuredContent });
		const linkText = { type: "text", text: "log\nWhat happened.\nhttps://lamp.example/log" };
		assert.deepEqual(await resultFor("2025-03-26"), { content: [audio, linkText, image] });
		const audioText = { type: "text", text: "(audio, audio/wav: 3 bytes)" };
		assert.deepEqual(await resultFor("2024-11-05"), { content: [audioText, linkText, image] });
	});

	itGateway("get a structured result as text if there is no other text", async (side, t) => {
		await WireDevice.connect(t, side, { onCall: () => ({ content: [], structuredContent: { celsius: 20 } }) });
		const { result } = await call(side, "2025-03-26", { volume: 1 });
		assert.deepEqual(result, { content: [{ type: "text", text: '{"celsius":20}' }] });
	});
});
