import brightness from "../../examples/beyond-tools/brightness-tool.js";
import dim from "../../examples/beyond-tools/dim-tool.js";
import { makeFeatures } from "../../examples/beyond-tools/features.js";
import folders from "../../examples/beyond-tools/folders-tool.js";
import greeting from "../../examples/beyond-tools/greeting-tool.js";
import report from "../../examples/beyond-tools/report-tool.js";
import visit from "../../examples/beyond-tools/visit-tool.js";
import setLamp from "../../examples/set-lamp.js";
import type { Hardware } from "../../src/hardware/hardware.js";
import { ALL, Client, meta } from "../doubles/client.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, given, matches, settled, suite } from "../harness.js";

function makeClient() {
	const board = new FakeBoard();
	const timer = new FakeTimer();
	const tools = [dim, report, visit, brightness, greeting, folders];
	const client = new Client<Hardware>({ context: board, tools, features: makeFeatures(board), timer });
	client.initialize("2025-11-25", ALL);
	return { board, client, timer };
}

export default suite("examples", {
	"set-lamp is listed and called"() {
		const board = new FakeBoard();
		const client = new Client<Hardware>({ context: board, tools: [setLamp] });
		equal(client.ask("tools/list").result.tools[0].inputSchema.required, ["on"]);
		const { result } = client.call("self.lamp.set", { on: true, color: "green", brightness: 50 });
		equal(JSON.parse(result.content[0].text), { on: true, rgb: [0, 128, 0] });
		equal(board.settings.get("lamp", "rgb"), "0,128,0");
	},
	"resources are read": given(makeClient, ({ board, client }) => {
		const read = (uri: string) => client.ask("resources/read", { uri }).result.contents[0].text;
		equal(JSON.parse(read("device://self/volume")), { volume: 70 });
		board.settings.set("audio", "output_volume", 30);
		equal(read("setting://audio/output_volume"), "30");
		equal(read("setting://audio/other"), "not set");
	}),
	"a prompt is made, and its argument completed": given(makeClient, ({ client }) => {
		const { messages } = client.ask("prompts/get", { name: "evening", arguments: { mood: "calm" } }).result;
		equal(messages[0].content.text, "Make the evening calm. The screen's brightness is 75 percent.");
		const complete = (ref: object, name: string) =>
			client.ask("completion/complete", { ref, argument: { name, value: "c" } }).result.completion.values;
		equal(complete({ type: "ref/prompt", name: "evening" }, "mood"), ["calm", "cosy"]);
		equal(complete({ type: "ref/resource", uri: "setting://{domain}/{name}" }, "domain"), []);
	}),
	"a tool logs while it runs": given(makeClient, async ({ board, client, timer }) => {
		board.screen.brightness = 20;
		const heard = client.say('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"self.screen.dim"}}');
		for (let step = 0; step < 3; step += 1) {
			await timer.passed(100);
		}
		heard.push(...client.heard());
		const logged = heard.slice(0, -1).map(({ params }) => params);
		equal(
			logged,
			[20, 10].map((brightness) => ({ level: "info", logger: "screen", data: { brightness } })),
		);
		equal(heard.pop().result.content[0].text, "0");
	}),
	async "a tool returns contents of several types"() {
		const [{ result }] = await makeClient().client.request("tools/call", { name: "self.report" });
		const { content } = result;
		const types = content.map(({ type }: { type: string }) => type);
		equal(types, ["text", "image", "resource", "resource_link"]);
		equal(content[1].data, "UEhPVE8=");
		equal(JSON.parse(content[2].resource.text), { level: 88 });
	},
	"a tool asks the user, the model, and for folders, in a session": given(makeClient, async ({ board, client }) => {
		const call = (name: string, args: object = {}) => client.call(name, args).method;
		const answer = async (id: string, result: object) => {
			client.say(JSON.stringify({ jsonrpc: "2.0", id, result }));
			await settled();
			return client.heard()[0].result.content[0].text;
		};
		equal(call("self.screen.ask_brightness"), "elicitation/create");
		equal(await answer("s1", { action: "accept", content: { percent: 20 } }), "The brightness is 20 percent.");
		equal(board.screen.brightness, 20);
		equal(call("self.greet", { name: "Ann" }), "sampling/createMessage");
		const content = { type: "text", text: "Welcome!" };
		equal(await answer("s2", { role: "assistant", content, model: "m" }), "Welcome! (by m)");
		equal(call("self.folders"), "roots/list");
		equal(await answer("s3", { roots: [{ uri: "file:///a" }, { uri: "file:///b", name: "B" }] }), "file:///a, B");
	}),
	async "a tool asks the user by input_required in a request that stands alone"() {
		const { board, client, timer } = makeClient();
		const call = async (more: object) => {
			const params = { name: "self.screen.ask_brightness", _meta: meta(), ...more };
			client.say(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
			await settled();
			await timer.passed(0);
			return client.heard()[0].result;
		};
		const { inputRequests, requestState } = await call({});
		equal(inputRequests.q1.params.message, "How bright should the screen be?");
		const done = await call({ requestState, inputResponses: { q1: { action: "decline" } } });
		equal(done.content[0].text, "The brightness stays as it is.");
		equal(board.screen.brightness, 75);
	},
	"a tool's arguments are checked": given(makeClient, ({ client }) => {
		const args = { on: "2026-01-31", mail: "ann@example.org", plate: "AB-12", region: "north" };
		const answer = (change: object) => client.call("self.visit.announce", { ...args, ...change }).result;
		equal(answer({}).content[0].text, "expected on 2026-01-31 at gate n");
		matches(answer({ plate: "12" }).content[0].text, /^plate: expected text that matches/);
		matches(answer({ gate: "w" }).content[0].text, /^gate: expected one of "n", "s", got "w"$/);
	}),
});
