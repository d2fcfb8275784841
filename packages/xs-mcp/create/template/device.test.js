import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { openDevice } from "xs-mcp/test";

let device;
before(async () => {
	device = await openDevice();
});
after(() => device?.close());

it("greets by name", async () => {
	assert.equal(await device.call("self.greet", { name: "Ada" }), "Hello Ada, from the device");
});

it("switches the pump at its pin", async () => {
	await device.call("self.switch.set", { name: "pump", on: true });
	assert.equal(device.read("pump"), 1);
});
