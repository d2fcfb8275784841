import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startProgram } from "../../gateway/test/support/program.js";
import { cases } from "../support/scope.js";
import { until } from "../support/until.js";
import { connectOverHttp } from "./clients.js";
import { ENGINES, startDevice } from "./fixtures.js";

const _PATIENCE = 20_000;

for (const engine of cases(ENGINES)) {
	describe(`a device that knows only the gateway's URL, firmware on ${engine.kind}`, () => {
		for (const transport of ["websocket", "mqtt"] as const) {
			it(`shows its code, is approved, connects over ${transport}, and is called`, async (t) => {
				const { base, gateway } = await startProgram(t, { bootstrap: "approve", mqtt: transport === "mqtt" });
				const config = { otaUrl: `${base}/xiaozhi/ota/` };
				const { device, log } = await startDevice(t, engine, { config });
				const screens: string[] = [];
				device.on("screen", (screen) => screens.push(JSON.stringify(screen)));
				const pending = async (): Promise<{ code: string }[]> =>
					((await (await fetch(`${base}/bindings`)).json()) as { pending: { code: string }[] }).pending;
				await until(async () => (await pending()).length === 1, "the device waits");
				const [{ code } = { code: "" }] = await pending();
				await until(() => screens.some((screen) => screen.includes(code)), "the code is on the screen");
				assert.ok(
					log.some((line) => line.includes(code)),
					"the code is traced",
				);
				assert.equal(gateway.servers.sessions.length, 0);
				assert.equal((await fetch(`${base}/bindings/${code}`, { method: "POST" })).status, 200);
				await until(() => gateway.servers.find(device.macAddress)?.online === true, "the device is online");
				assert.equal(gateway.servers.find(device.macAddress)?.session?.identity.transport, transport);
				const client = await connectOverHttp(`${base}/mcp`, "2025-11-25");
				t.after(() => client.close());
				const name = (await client.listTools()).tools.find((tool) => tool.name.includes("set_volume"))?.name ?? "";
				const { content } = await client.callTool({ name, arguments: { volume: 12 } });
				assert.deepEqual(content, [{ type: "text", text: "true" }]);
			});
		}
	});
}
