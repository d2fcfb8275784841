import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import getPort from "get-port";
import { buildForSimulator, linkForChip } from "../../scripts/moddable/mcconfig.js";
import { findSdk, NO_SDK, type Sdk } from "../../scripts/moddable/sdk.js";
import { Simulator } from "../../scripts/moddable/simulator.js";
import { until } from "../support/until.js";

const EXAMPLE = fileURLToPath(new URL("../../examples/embed", import.meta.url));

const sdk = findSdk();

describe("an MCP server in a project of its own", { skip: sdk === undefined && NO_SDK }, () => {
	it("links for a chip", async () => {
		await linkForChip(sdk as Sdk, EXAMPLE, "esp32", ["-p", "esp32"]);
	});

	it("answers over the project's transport in the simulator", async (t) => {
		const port = await getPort();
		const library = await buildForSimulator(sdk as Sdk, EXAMPLE, [`port=${port}`]);
		const simulator = await Simulator.start(sdk as Sdk, library, { headless: true });
		t.after(() => simulator.stop());
		await until(() => simulator.machine !== undefined, "the simulator runs it");
		const socket = await open(port);
		t.after(() => socket.destroy());
		const lines = createInterface(socket);
		const ask = async (id: number, method: string, params: object) => {
			socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
			const [line] = await once(lines, "line");
			return JSON.parse(line).result;
		};
		const parameters = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
		assert.equal((await ask(1, "initialize", parameters)).serverInfo.name, "thermostat");
		const { content } = await ask(2, "tools/call", { name: "set_target", arguments: { celsius: 21 } });
		assert.deepEqual(content, [{ type: "text", text: "true" }]);
	});
});

/** Connects as soon as something listens. */
async function open(port: number) {
	for (;;) {
		const socket = connect(port, "127.0.0.1");
		try {
			await once(socket, "connect");
			return socket;
		} catch {
			await new Promise((resolve) => setTimeout(resolve, 100));
		}
	}
}
