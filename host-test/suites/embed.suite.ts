import { openSession } from "../../examples/embed/thermostat.js";
import { equal, suite } from "../harness.js";

// The example of docs/embed.md.

export default suite("embed", {
	"an MCP server without the rest of the firmware answers over any transport that sends text"() {
		const sent: string[] = [];
		const session = openSession((text) => sent.push(text));
		const ask = (id: number, method: string, params: object) => {
			session.receiveText(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
			return JSON.parse(sent.splice(0)[0] as string).result;
		};
		const { serverInfo } = ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} });
		equal(serverInfo, { name: "thermostat", version: "1.0.0" });
		equal(ask(2, "tools/list", {}).tools[0].name, "set_target");
		equal(ask(3, "tools/call", { name: "set_target", arguments: { celsius: 21 } }).content[0].text, "true");
	},
});
