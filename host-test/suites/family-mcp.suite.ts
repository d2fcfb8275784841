import { createTool } from "../../src/mcp_server/tool.js";
import { clientWith, settled } from "../doubles/client.js";
import { equal, suite } from "../harness.js";

type NoInput = Record<never, never>;

/** A client of a server whose tools fail: one at once, one later. */
function clientOfBroken() {
	return clientWith(
		createTool<undefined, NoInput, NoInput>({
			name: "now",
			description: "",
			run() {
				throw new Error("no paper");
			},
		}),
		createTool<undefined, NoInput, NoInput>({
			name: "later",
			description: "",
			async run() {
				throw new Error("no ink");
			},
		}),
	);
}

export default suite("MCP, as backends of the xiaozhi family speak it", {
	async "a tool that failed is an error with the tool's words on 2024-11-05"() {
		const client = clientOfBroken();
		for (const begin of [() => {}, () => client.initialize(), () => client.initialize("2024-11-05")]) {
			begin();
			equal(client.call("now").error, { code: -32603, message: "no paper" });
			client.session.receive({ jsonrpc: "2.0", id: 9, method: "tools/call", params: { name: "later" } });
			await settled();
			equal(client.heard(), [{ jsonrpc: "2.0", id: 9, error: { code: -32603, message: "no ink" } }]);
		}
	},
	"a tool that failed is a result with isError in every later revision"() {
		const client = clientOfBroken();
		for (const revision of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
			client.initialize(revision);
			equal(client.call("now").result, { content: [{ type: "text", text: "no paper" }], isError: true });
		}
	},
	"null in initialize means that the member is absent"() {
		const client = clientWith();
		const { result } = client.ask("initialize", { protocolVersion: null, capabilities: null, clientInfo: null });
		equal([result.protocolVersion, client.session.client], ["2024-11-05", { capabilities: {} }]);
		client.ask("initialize", { capabilities: { vision: null } });
		equal(client.session.client.vision, undefined);
	},
	"null in tools/list means that the member is absent"() {
		const { result } = clientOfBroken().ask("tools/list", { cursor: null, withUserTools: null });
		equal(
			result.tools.map(({ name }: { name: string }) => name),
			["now", "later"],
		);
	},
});
