import assert from "node:assert/strict";
import { it } from "node:test";
import { ProgramError } from "xs-mcp/build/program";
import { chooseEngine } from "xs-mcp-virtual-device";
import { startGateway } from "../examples/tour/start-gateway.js";
import { TourDevice } from "../examples/tour/tour-device.js";

it("a device of npm start that fails to start, as with an invalid tool, is a fault of the user's: a message without a stack", async (t) => {
	const gateway = await startGateway({ transport: "websocket", port: 0, httpPort: 0, engine: "v8" });
	t.after(() => gateway.close());
	const engine = await chooseEngine("v8");
	const firmware = 'throw new TypeError("tool self.lamp.set is already registered")';
	const device = new TourDevice(gateway, engine, firmware);
	t.after(() => device.stop());
	await assert.rejects(device.show(), (error) => {
		assert.ok(error instanceof ProgramError);
		assert.match(error.message, /TypeError: tool self\.lamp\.set is already registered$/);
		return true;
	});
});
