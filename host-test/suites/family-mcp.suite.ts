import { clientWith, tool } from "../doubles/client.js";
import { equal, suite } from "../harness.js";

/** A client of a server whose tools fail: one at once, one later. */
function clientOfBroken() {
	return clientWith(
		tool("now", () => {
			throw new Error("no paper");
		}),
		tool("later", () => Promise.reject(new Error("no ink"))),
	);
}

export default suite("MCP, as backends of the xiaozhi family speak it", {
	async "a tool that failed is an error with the tool's words on 2024-11-05"() {
		const client = clientOfBroken();
		for (const begin of [() => {}, () => client.initialize(), () => client.initialize("2024-11-05")]) {
			begin();
			equal(client.call("now").error, { code: -32603, message: "no paper" });
			equal(await client.request("tools/call", { name: "later" }, 9), [
				{ jsonrpc: "2.0", id: 9, error: { code: -32603, message: "no ink" } },
			]);
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
		equal(clientOfBroken().names({ cursor: null, withUserTools: null }), ["now", "later"]);
	},
});
