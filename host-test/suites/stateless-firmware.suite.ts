import { FIRMWARE } from "../../src/core/firmware.js";
import type { HttpRequest } from "../../src/hardware/hardware.js";
import { done } from "../../src/mcp_server/content.js";
import { integer } from "../../src/mcp_server/schema.js";
import { defineTool, type HardwareTool } from "../../src/tools/define-tool.js";
import { meta, TOOLS, VERSION, type Wire } from "../doubles/client.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { inSession } from "../doubles/started-application.js";
import { equal, given, matches, settled, suite } from "../harness.js";

const dim = defineTool({
	name: "self.dim",
	title: "Dim",
	description: "Dim.",
	input: { percent: integer({ minimum: 0, maximum: 100 }) },
	needs: [],
	run: ({ percent }) => done({ percent }),
});
const camera = TOOLS.filter(({ name }) => name === "self.camera.take_photo");

function openWith(tools: readonly HardwareTool[]) {
	const { transport, board } = inSession(new FakeBoard(), {}, { tools });
	const { sent } = transport.channel;
	sent.length = 0;
	const say = (method: string, params?: object, id: unknown = 1): readonly string[] => {
		transport.channel.say({ type: "mcp", payload: { jsonrpc: "2.0", id, method, params } });
		return sent.splice(0);
	};
	const heard = (): Wire => JSON.parse(sent.splice(0)[0] as string).payload;
	const ask = (method: string, params: object = {}, _meta: object = meta({})): Wire =>
		JSON.parse(say(method, { ...params, _meta })[0] as string).payload;
	return { board, say, ask, heard };
}

const open = () => openWith([dim]);

const call = { name: "self.dim", arguments: { percent: 30 } };
const envelope = (payload: string): readonly string[] => [`{"session_id":"s-1","type":"mcp","payload":${payload}}`];
const result = (json: string): readonly string[] => envelope(`{"jsonrpc":"2.0","id":1,"result":${json}}`);
const error = (json: string): readonly string[] => envelope(`{"jsonrpc":"2.0","id":1,"error":${json}}`);

const STRUCTURED =
	'{"content":[{"type":"text","text":"{\\"percent\\":30}"}],"isError":false,"structuredContent":{"percent":30}}';
const TRUE = '{"content":[{"type":"text","text":"true"}],"isError":false}';
const LISTED = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const SCHEMA =
	'{"type":"object","properties":{"percent":{"type":"integer","minimum":0,"maximum":100}},"required":["percent"]}';
const FIRST_LIST = `{"tools":[{"name":"self.dim","description":"Dim.","inputSchema":${SCHEMA}}]}`;
const LIST = `{"tools":[{"name":"self.dim","description":"Dim.","inputSchema":${SCHEMA},"title":"Dim"}]}`;

export default suite("MCP 2026-07-28 in the firmware", {
	"answers sessions of older revisions byte for byte as before"() {
		for (const [protocolVersion, called, list] of [
			["2024-11-05", TRUE, FIRST_LIST],
			["2025-03-26", TRUE, LIST],
			["2025-06-18", STRUCTURED, LIST],
			["2025-11-25", STRUCTURED, LIST],
		] as const) {
			const { say } = open();
			const { name, version } = { name: "fake", version: FIRMWARE.version };
			const info = `"protocolVersion":"${protocolVersion}","capabilities":{"tools":{"listChanged":true}}`;
			const initialized = `{${info},"serverInfo":{"name":"${name}","version":"${version}"}}`;
			equal(say("initialize", { protocolVersion }), result(initialized));
			for (const _meta of [undefined, null, {}, { progressToken: "p" }, { other: {} }]) {
				equal(say("tools/call", { ...call, _meta }), result(called));
				equal(say("tools/list", { cursor: "", _meta }), result(list));
				equal(say("ping", { _meta }), result("{}"));
			}
			equal(say("other"), error('{"code":-32601,"message":"Method not found: other"}'));
		}
	},
	"tells versions, name and capabilities without subscriptions by server/discover": given(open, ({ ask }) => {
		equal(ask("server/discover").result, {
			...LISTED,
			supportedVersions: ["2026-07-28"],
			capabilities: { tools: {} },
			_meta: { "io.modelcontextprotocol/serverInfo": { name: "fake", version: FIRMWARE.version } },
		});
	}),
	"lists and calls tools as the request's own _meta says, without initialize": given(open, ({ ask }) => {
		const { tools, ...others } = ask("tools/list").result;
		equal([tools[0].name, others], ["self.dim", LISTED]);
		equal(ask("tools/call", call).result, { resultType: "complete", ...JSON.parse(STRUCTURED) });
		const { resultType, isError } = ask("tools/call", { ...call, arguments: { percent: 101 } }).result;
		equal([resultType, isError], ["complete", true]);
	}),
	"keeps the session of an older revision beside stateless requests": given(open, ({ say, ask }) => {
		say("initialize", { protocolVersion: "2024-11-05" });
		ask("tools/call", call);
		equal(say("tools/call", call), result(TRUE));
	}),
	"rejects another revision with those that it has, and missing members by name": given(open, ({ ask }) => {
		const { error } = ask("tools/list", {}, meta({}, { [VERSION]: "2025-11-25" }));
		equal([error.code, error.data], [-32022, { supported: ["2026-07-28"], requested: "2025-11-25" }]);
		matches(ask("tools/list", {}, { [VERSION]: "2026-07-28" }).error.message, /clientCapabilities: expected an object/);
		matches(ask("server/discover", {}, {}).error.message, /protocolVersion: expected a revision/);
	}),
	"has none of what was removed, nor what needs a feature": given(open, ({ ask }) => {
		for (const method of ["ping", "subscriptions/listen", "prompts/list"]) {
			equal(ask(method).error.code, -32601, method);
		}
	}),
	async "uploads a photo to the vision service of the request alone"() {
		const { board, say, heard } = openWith(camera);
		say("initialize", { capabilities: { vision: { url: "http://session/", token: "s" } } });
		const photo = { name: "self.camera.take_photo", arguments: { question: "?" } };
		for (const [vision, authorization] of [
			[{ url: "http://request/", token: "r" }, "Bearer r"],
			[{ url: "http://other/" }, undefined],
		] as const) {
			say("tools/call", { ...photo, _meta: meta({ vision }) });
			await settled();
			equal(heard().result.resultType, "complete");
			const { url, headers } = board.requests.at(-1) as HttpRequest;
			equal([url, headers?.get("Authorization")], [vision.url, authorization]);
		}
		say("tools/call", photo);
		await settled();
		equal(board.requests.at(-1)?.url, "http://session/");
		heard();
		say("tools/call", { ...photo, _meta: meta({}) });
		await settled();
		equal([heard().result.content[0].type, board.requests.length], ["image", 3]);
	},
});
