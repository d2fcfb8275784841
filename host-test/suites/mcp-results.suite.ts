import { audio, image, resourceLink, text } from "../../src/mcp_server/content.js";
import { RpcError } from "../../src/mcp_server/json-rpc.js";
import { integer } from "../../src/mcp_server/schema.js";
import { createTool, type Tool } from "../../src/mcp_server/tool.js";
import { clientWith, failing, tool } from "../doubles/client.js";
import { equal, given, matches, suite } from "../harness.js";

export default suite("results of tools", {
	"turns booleans, numbers and strings into text"() {
		for (const [value, words] of [
			[[], "[]"],
			[true, "true"],
			[false, "false"],
			[50, "50"],
			[0.5, "0.5"],
			['a"b', 'a"b'],
		]) {
			equal(clientWith(tool("t", () => value)).call("t").result, {
				content: [{ type: "text", text: words }],
				isError: false,
			});
		}
	},
	"gives a result that is JSON, but no object, as structured content too since 2025-06-18"() {
		const cases: [unknown, unknown][] = [
			[true, { result: true }],
			[50, { result: 50 }],
			[" 7 ", { result: 7 }],
			["null", { result: null }],
			[text("[1]"), { result: [1] }],
			[[text("true")], { result: true }],
			[[1, 2], { result: [1, 2] }],
			[{ toJSON: () => "text" }, { result: "text" }],
			[{ toJSON: () => null }, { result: null }],
			["seven", undefined],
			["true enough", undefined],
			['{"a":1}', undefined],
			["", undefined],
			[[text("true"), image("aW1n", "image/png")], undefined],
			[[text("1"), text("2")], undefined],
			[image("aW1n", "image/png"), undefined],
			[resourceLink({ uri: "http://x", name: "n" }), undefined],
		];
		for (const [value, structured] of cases) {
			const client = clientWith(tool("t", () => value));
			const { content } = client.call("t").result;
			for (const revision of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
				client.initialize(revision);
				const { result } = client.call("t");
				equal(result.structuredContent, revision === "2025-03-26" ? undefined : structured, JSON.stringify(value));
				equal(result.content.length, content.length);
			}
		}
		const broken = clientWith(failing(new Error("5")));
		broken.initialize("2025-11-25");
		equal(broken.call("t").result, { content: [{ type: "text", text: "5" }], isError: true });
	},
	"does not parse a text with more values than a small heap has room for"() {
		for (const [count, isParsed] of [
			[250, true],
			[5_000, false],
		] as const) {
			const client = clientWith(tool("t", () => `[${Array(count).fill("[]").join()}]`));
			client.initialize("2025-11-25");
			equal(client.call("t").result.structuredContent !== undefined, isParsed);
		}
	},
	"turns an object into JSON, and structured content since 2025-06-18"() {
		const client = clientWith(tool("t", () => ({ a: [1] })));
		equal(client.call("t").result, { content: [{ type: "text", text: '{"a":[1]}' }], isError: false });
		client.initialize("2025-06-18");
		equal(client.call("t").result.structuredContent, { a: [1] });
	},
	"sends MCP content as it is, and as text to clients that do not know it"() {
		const content = [
			text("t"),
			image("aW1n", "image/png"),
			audio("c25k", "audio/ogg"),
			resourceLink({ uri: "http://x", name: "n" }),
		];
		const client = clientWith(tool("t", () => content));
		client.initialize("2025-11-25");
		equal(client.call("t").result.content, [
			{ type: "text", text: "t" },
			{ type: "image", data: "aW1n", mimeType: "image/png" },
			{ type: "audio", data: "c25k", mimeType: "audio/ogg" },
			{ type: "resource_link", uri: "http://x", name: "n" },
		]);
		client.initialize("2024-11-05");
		const types = client.call("t").result.content.map((item: { type: string }) => item.type);
		equal(types, ["text", "image", "text", "text"]);
	},
	"answers an unknown tool as the revision wants it": given(clientWith, (client) => {
		equal(client.call("gone").error, { code: -32601, message: "Unknown tool: gone" });
		for (const [revision, expected] of [
			["2024-11-05", -32601],
			["2025-03-26", -32602],
			["2025-06-18", -32602],
			["2025-11-25", -32602],
		] as const) {
			client.initialize(revision);
			equal(client.call("gone").error, { code: expected, message: "Unknown tool: gone" });
		}
	}),
	"suggests the nearest name for an unknown tool since 2025-03-26"() {
		const names = ["self.audio_speaker.set_volume", "self.screen.set_brightness", "self.light.set", "garden.pump"];
		const client = clientWith(...names.map((name) => tool(name, () => true)));
		const messageFor = (name: string): string => client.call(name).error.message;
		equal(messageFor("set_volume"), "Unknown tool: set_volume");
		client.initialize("2025-11-25");
		for (const [name, nearest] of [
			["self_audio_speaker_set_volume", "self.audio_speaker.set_volume"],
			["self.speaker.setVolum", "self.audio_speaker.set_volume"],
			["set_volume", "self.audio_speaker.set_volume"],
			["Self.Screen.SetBrightness", "self.screen.set_brightness"],
			["self.screen.brightness", "self.screen.set_brightness"],
			["lights.set", "self.light.set"],
			["self.garden.pump", "garden.pump"],
			["self", undefined],
			["", undefined],
			["weather", undefined],
			[`self.light.set${".x".repeat(40)}`, undefined],
		] as const) {
			const suggestion = nearest === undefined ? "" : `. Did you mean ${nearest}?`;
			equal(messageFor(name), `Unknown tool: ${name}${suggestion}`);
		}
	},
	"reports a missing argument as invalid params, and as a failed call since 2025-11-25"() {
		const set = createTool({
			name: "set",
			description: "",
			input: { volume: integer({ minimum: 0, maximum: 100 }) },
			run: () => true,
		});
		const client = clientWith(set as Tool<undefined>);
		equal(client.call("set").error, { code: -32602, message: "volume: missing, expected an integer from 0 to 100" });
		client.initialize("2025-11-25");
		equal(client.call("set").result, {
			content: [{ type: "text", text: "volume: missing, expected an integer from 0 to 100" }],
			isError: true,
		});
	},
	"reports what is wrong with the call itself as invalid params"() {
		const client = clientWith(tool("t", () => true));
		matches(client.ask("tools/call").error.message, /^name/);
		matches(client.ask("tools/call", { name: "t", arguments: [] }).error.message, /^arguments/);
		equal(client.ask("tools/call", { name: "t", arguments: null }).result.isError, false);
		equal(client.ask("tools/call", { name: "t" }).result.isError, false);
	},
	"turns what a tool throws into a failed call, since 2025-03-26"() {
		for (const [thrown, words] of [
			[new Error("no paper"), "no paper"],
			["text", "text"],
			[undefined, "undefined"],
		]) {
			const client = clientWith(failing(thrown));
			for (const revision of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
				client.initialize(revision);
				equal(client.call("t").result, { content: [{ type: "text", text: words }], isError: true });
			}
		}
	},
	"passes the JSON-RPC error that a tool throws"() {
		const client = clientWith(failing(new RpcError(-32050, "jammed", { tray: 2 })));
		equal(client.call("t").error, { code: -32050, message: "jammed", data: { tray: 2 } });
	},
	"answers with a tool's error without its data if that is not JSON"() {
		const data: Record<string, unknown> = {};
		data.self = data;
		const client = clientWith(failing(new RpcError(-32050, "jammed", data)));
		equal(client.call("t").error, { code: -32050, message: "jammed" });
	},
	"answers an invalid result with an internal error"() {
		const circular: Record<string, unknown> = {};
		circular.self = circular;
		for (const value of [undefined, null, Number.NaN, () => 1, circular, { toJSON: () => undefined }]) {
			equal(clientWith(tool("t", () => value)).call("t").error.code, -32603);
		}
	},
	async "turns what a tool throws into an error with its words on 2024-11-05, as the xiaozhi family wants it"() {
		const later = tool("later", () => Promise.reject(new Error("no ink")));
		const client = clientWith(failing(new Error("no paper")), later);
		for (const begin of [() => {}, () => client.initialize(), () => client.initialize("2024-11-05")]) {
			begin();
			equal(client.call("t").error, { code: -32603, message: "no paper" });
			equal(await client.request("tools/call", { name: "later" }, 9), [
				{ jsonrpc: "2.0", id: 9, error: { code: -32603, message: "no ink" } },
			]);
		}
	},
});
