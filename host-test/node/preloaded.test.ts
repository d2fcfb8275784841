import assert from "node:assert/strict";
import { it } from "node:test";
import Axp2101, { type PowerChipGlobal } from "../../src/hardware/drivers/axp2101.js";
import { RpcError } from "../../src/mcp_server/json-rpc.js";
import { CallCancelled } from "../../src/mcp_server/tool-call.js";
import { ValidationError } from "../../src/mcp_server/validate.js";
import { ProtocolError } from "../../src/protocols/envelope.js";
import { fakeBus } from "../doubles/fake-bus.js";

/** XS freezes preloaded objects, the built-ins too: a property of the same name cannot be assigned. */
function whileReadOnly<T>(make: () => T): T {
	Object.defineProperty(Error.prototype, "name", { writable: false });
	try {
		return make();
	} finally {
		Object.defineProperty(Error.prototype, "name", { writable: true });
	}
}

it("errors carry their names where the built-ins are read-only", () => {
	const errors = whileReadOnly(() => [
		new RpcError(-32600, "no"),
		new ValidationError("volume", "no"),
		new ProtocolError("silent", "no"),
		new CallCancelled("no"),
	]);
	const names = errors.map(({ name }) => name);
	assert.deepEqual(names, ["RpcError", "ValidationError", "ProtocolError", "CallCancelled"]);
});

it("the CoreS3's set-up hands over the power chip, though the class is read-only", () => {
	Object.freeze(Axp2101);
	const { bus, writes } = fakeBus();
	new Axp2101({ sensor: bus, address: 0x34 }).writeByte(0x90, 0xbf);
	(globalThis as PowerChipGlobal).powerChip?.writeByte(0x99, 28);
	assert.deepEqual(writes, [
		[0x34, 0x90, 0xbf],
		[0x34, 0x99, 28],
	]);
});
