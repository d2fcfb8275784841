import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cases } from "../../../host-test/support/scope.js";
import { testWith, until } from "../../../host-test/support/testing.js";
import {
	connectClient,
	ERAS,
	startGateway,
	type TestGateway,
	WireDevice,
	type WireDeviceOptions,
} from "../testing/gateway.js";
import { openSession } from "../testing/raw-session.js";

const itGateway = testWith(startGateway);

const [FIRST, SECOND] = ["aa:bb:cc:00:00:01", "aa:bb:cc:00:00:02"];

const WITH_PROMPTS: WireDeviceOptions = {
	capabilities: { tools: {}, prompts: { listChanged: true }, resources: {}, completions: {} },
	answers: {
		"prompts/list": () => ({ prompts: [{ name: "self.evening", arguments: [{ name: "mood", required: true }] }] }),
		"prompts/get": ({ params: { name, arguments: args } }) =>
			args?.mood === undefined
				? { code: -32602, message: "mood: is missing" }
				: {
						messages: [
							{ role: "user", content: { type: "text", text: `${name} ${args.mood}` } },
							{ role: "user", content: { type: "resource_link", uri: "device://self/x", name: "x" } },
							{ role: "user", content: { type: "resource", resource: { uri: "test://y", text: "y" } } },
							{ role: "user", content: { type: "audio", data: "AAAA", mimeType: "audio/wav" } },
						],
					},
		"resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "setting://{name}", name: "s" }] }),
		"completion/complete": ({ params: { ref, argument, context } }) => ({
			completion: { values: [`${ref.name ?? ref.uri} ${argument.value} ${context?.arguments?.mood ?? ""}`] },
		}),
	},
};

async function connectDevice(t: Parameters<typeof startGateway>[0], side: TestGateway, id: string) {
	const device = await WireDevice.connect(t, side, { ...WITH_PROMPTS, id });
	await until(() => side.gateway.servers.find(id)?.offers.prompts.length === 1, "its prompts are known");
	return device;
}

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`prompts of devices, for a client of ${era}`, () => {
		itGateway("are named like tools, and made by their device", async (side, t) => {
			await connectDevice(t, side, FIRST);
			await connectDevice(t, side, SECOND);
			const client = await connectClient(t, side.clientUrl(), era);
			const { prompts } = await client.listPrompts();
			const names = prompts.map(({ name }) => name);
			assert.deepEqual(names, ["lamp_000001__self_evening", "lamp_000002__self_evening"]);
			assert.deepEqual(prompts[0]?.arguments, [{ name: "mood", required: true }]);
			const name = "lamp_000002__self_evening";
			const { messages } = await client.getPrompt({ name, arguments: { mood: "calm" } });
			const contents = messages.slice(0, 3).map(({ content }) => content);
			assert.deepEqual(contents, [
				{ type: "text", text: "self.evening calm" },
				{ type: "resource_link", uri: "device://lamp_000002/x", name: "x" },
				{ type: "resource", resource: { uri: "on-device://lamp_000002/test://y", text: "y" } },
			]);
			await assert.rejects(client.getPrompt({ name }), { code: -32602, message: /mood: is missing/ });
			await assert.rejects(client.getPrompt({ name: "nobody__x" }), { code: -32602, message: /Unknown prompt/ });
		});

		itGateway("can be asked for by any name on the path of their device", async (side, t) => {
			await connectDevice(t, side, FIRST);
			const client = await connectClient(t, side.clientUrl(FIRST), era);
			assert.equal((await client.listPrompts()).prompts[0]?.name, "self_evening");
			for (const name of ["self_evening", "self.evening", "lamp_000001__self_evening"]) {
				const { messages } = await client.getPrompt({ name, arguments: { mood: "calm" } });
				assert.deepEqual(messages[1]?.content, { type: "resource_link", uri: "device://self/x", name: "x" });
			}
		});

		itGateway("are completed by their device, as templates of resources are", async (side, t) => {
			await connectDevice(t, side, FIRST);
			const client = await connectClient(t, side.clientUrl(), era);
			const complete = async (ref: Parameters<typeof client.complete>[0]["ref"]) =>
				(await client.complete({ ref, argument: { name: "n", value: "ca" }, context: { arguments: { mood: "m" } } }))
					.completion.values;
			assert.deepEqual(await complete({ type: "ref/prompt", name: "lamp_000001__self_evening" }), [
				"self.evening ca m",
			]);
			assert.deepEqual(await complete({ type: "ref/resource", uri: "on-device://lamp_000001/setting://{name}" }), [
				"setting://{name} ca m",
			]);
			await assert.rejects(complete({ type: "ref/prompt", name: "nobody" }), { code: -32602 });
			await assert.rejects(complete({ type: "ref/resource", uri: "nobody" }), { code: -32602 });
		});
	});
}

it("prompts for a client of an older revision have text in place of contents that it does not know", async (t) => {
	const side = await startGateway(t);
	await connectDevice(t, side, FIRST);
	const { ask } = await openSession(side.clientUrl(), "2024-11-05");
	const { result } = await ask("prompts/get", { name: "lamp_000001__self_evening", arguments: { mood: "calm" } });
	assert.deepEqual(
		result.messages.map(({ content }: { content: { type: string; text?: string } }) => [content.type, content.text]),
		[
			["text", "self.evening calm"],
			["text", "x\ndevice://lamp_000001/x"],
			["resource", undefined],
			["text", "(audio, audio/wav: 3 bytes)"],
		],
	);
});
