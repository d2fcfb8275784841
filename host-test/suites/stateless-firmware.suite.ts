import { FIRMWARE } from "../../src/core/settings/firmware.js";
import { done } from "../../src/mcp_server/content.js";
import { integer } from "../../src/mcp_server/schema.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { inSession } from "../doubles/started-application.js";
import { equal, suite } from "../harness.js";

const dim = defineTool({
	name: "self.dim",
	title: "Dim",
	description: "Dim.",
	input: { percent: integer({ minimum: 0, maximum: 100 }) },
	needs: [],
	run: ({ percent }) => done({ percent }),
});

function open() {
	const { transport } = inSession(new FakeBoard(), {}, { tools: [dim] });
	const { sent } = transport.channel;
	sent.length = 0;
	const say = (method: string, params?: object, id: unknown = 1): readonly string[] => {
		transport.channel.say({ type: "mcp", payload: { jsonrpc: "2.0", id, method, params } });
		return sent.splice(0);
	};
	return { say };
}

const call = { name: "self.dim", arguments: { percent: 30 } };
const envelope = (payload: string): readonly string[] => [`{"session_id":"s-1","type":"mcp","payload":${payload}}`];
const result = (json: string): readonly string[] => envelope(`{"jsonrpc":"2.0","id":1,"result":${json}}`);
const error = (json: string): readonly string[] => envelope(`{"jsonrpc":"2.0","id":1,"error":${json}}`);

const STRUCTURED =
	'{"content":[{"type":"text","text":"{\\"percent\\":30}"}],"isError":false,"structuredContent":{"percent":30}}';
const TRUE = '{"content":[{"type":"text","text":"true"}],"isError":false}';
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
});
