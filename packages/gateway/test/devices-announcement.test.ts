import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeServices } from "../src/devices/announcement.js";
import { GATEWAY_INFO } from "../src/version.js";
import { makeStateFolder, startProgram, tokensIn } from "../testing/program.js";

describe("what the gateway announces", () => {
	it("is a service for each listener that other machines can reach, with transport, path and version", () => {
		const listeners = [
			{ scheme: "ws", address: "0.0.0.0", port: 8765 },
			{ scheme: "mqtts", address: "192.168.1.10", port: 8883 },
			{ scheme: "http", address: "0.0.0.0", port: 3000 },
		];
		assert.deepEqual(describeServices(listeners, "Workshop.example.org"), [
			{
				name: "xs-mcp gateway on Workshop (ws)",
				type: "xs-mcp",
				port: 8765,
				hostname: "xs-mcp-workshop",
				txt: { transport: "ws", path: "/", version: GATEWAY_INFO.version },
			},
			{
				name: "xs-mcp gateway on Workshop (mqtts)",
				type: "xs-mcp",
				port: 8883,
				hostname: "xs-mcp-mqtts-workshop",
				txt: { transport: "mqtts", version: GATEWAY_INFO.version },
				restrictedAddresses: ["192.168.1.10"],
			},
			{
				name: "xs-mcp gateway on Workshop (http)",
				type: "mcp",
				port: 3000,
				hostname: "xs-mcp-http-workshop",
				txt: { transport: "http", path: "/mcp", version: GATEWAY_INFO.version },
			},
		]);
	});

	it("is nothing that only programs on this machine can reach", () => {
		for (const address of ["127.0.0.1", "127.1.2.3", "::1", "localhost"]) {
			assert.deepEqual(describeServices([{ scheme: "ws", address, port: 1 }]), []);
		}
	});

	it("has names that fit into DNS", () => {
		const [service] = describeServices([{ scheme: "ws", address: "::", port: 1 }], `${"Björn's_PC-".repeat(20)}`);
		assert.ok((service?.name.length ?? 99) <= 63);
		assert.match(service?.hostname ?? "", /^xs-mcp-bj-rn-s-pc-[a-z-]{1,45}$/);
	});

	it("is nothing at all on loopback, or if the operator says so", async (t) => {
		const stateFolder = makeStateFolder();
		await tokensIn(stateFolder).add({ name: "board", kind: "device" });
		for (const flags of [{ announce: true }, { announce: false, websocketAddress: "0.0.0.0" }]) {
			const { log, gateway } = await startProgram(t, { ...flags, mqtt: true }, stateFolder);
			assert.doesNotMatch(log(), /announced/);
			await gateway.close();
		}
	});
});
