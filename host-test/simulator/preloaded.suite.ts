import { FIRMWARE } from "../../src/core/firmware.js";
import { OFFERED, STATE_URI } from "../../src/features/resources/offered.js";
import type { Hardware } from "../../src/hardware/hardware.js";
import { Resources } from "../../src/mcp_server/features/resources.js";
import { RpcError } from "../../src/mcp_server/json-rpc.js";
import { ValidationError } from "../../src/mcp_server/validate.js";
import { ProtocolError } from "../../src/protocols/envelope.js";
import { Client, TOOLS } from "../doubles/client.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { equal, suite, throws } from "../harness.js";

// Tests for modules that ran in the linker, with their objects in flash.

export default suite("what is preloaded", {
	"is read-only, so that JSON of it needs a copy"() {
		throws(() => JSON.stringify(FIRMWARE), /read only/);
		throws(() => JSON.stringify({ tools: TOOLS }), /read only/);
		equal(JSON.parse(JSON.stringify({ ...FIRMWARE })), {
			name: "xs-mcp",
			version: FIRMWARE.version,
			board: FIRMWARE.board,
		});
	},
	"has classes and built-ins that nobody changes"() {
		equal([RpcError.prototype, Error.prototype, FakeBoard.prototype].map(Object.isFrozen), [true, true, false]);
	},
	"names its errors although the built-ins are frozen"() {
		const errors = [new RpcError(-32600, "no"), new ValidationError("volume", "no"), new ProtocolError("silent", "no")];
		equal(
			errors.map(({ name, message }) => `${name}: ${message.endsWith("no")}`),
			["RpcError: true", "ValidationError: true", "ProtocolError: true"],
		);
	},
	"reads every resource that the linker made"() {
		const board = new FakeBoard();
		const client = new Client<Hardware>({
			context: board,
			features: [new Resources<Hardware>(OFFERED)],
		});
		equal(client.ask("resources/list").result.resources.length, OFFERED.length);
		const { contents } = client.ask("resources/read", { uri: STATE_URI }).result;
		equal(JSON.parse(contents[0].text).version, FIRMWARE.version);
	},
	"lists every tool by what the linker made of it"() {
		const client = new Client<Hardware>({ context: new FakeBoard(), tools: TOOLS });
		const names: string[] = [];
		for (let cursor: string | undefined = ""; cursor !== undefined; ) {
			const { result } = client.ask("tools/list", { cursor, withUserTools: true });
			names.push(...result.tools.map(({ name }: { name: string }) => name));
			cursor = result.nextCursor;
		}
		equal(
			names,
			[...TOOLS.filter((tool) => !tool.userOnly), ...TOOLS.filter((tool) => tool.userOnly)].map(({ name }) => name),
		);
	},
	"is answered with by tools, structured too, as JSON that can be written"() {
		const client = new Client<Hardware>({ context: new FakeBoard(), tools: TOOLS });
		client.initialize("2025-11-25");
		for (const name of ["self.get_device_status", "self.get_system_info", "self.screen.get_info"]) {
			const { content, isError, structuredContent } = client.call(name).result;
			equal(isError, false, name);
			equal(JSON.parse(content[0].text), structuredContent, name);
		}
	},
});
