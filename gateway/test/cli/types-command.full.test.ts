import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/until.js";
import { nodeServer, ODD_SERVER } from "../../../mcp-manager/test/support/upstreams.js";
import { ask } from "../support/command-line.js";
import { WireDevice } from "../support/gateway.js";
import { makeServersFile, startProgram } from "../support/program.js";

describe("xs-mcp-gateway types", () => {
	it("writes the declarations of a configured server, and of a device", async (t) => {
		const started = await startProgram(t, { serversFile: makeServersFile({ odd: nodeServer("odd", ODD_SERVER) }) });
		await until(() => started.gateway.servers.find("odd") !== undefined, "the server is known");
		const { code, stdout } = await ask(started)(t, "types", "odd");
		assert.equal(code, 0);
		assert.match(stdout, /^export interface Odd \{$/m);
		assert.match(stdout, /^\techo\(params\?: EchoParams\): Promise<string>;$/m);
		await WireDevice.connect(t, started);
		const device = await ask(started)(t, "types", "lamp_000001");
		assert.match(
			device.stdout,
			/^\tselfAudioSpeakerSetVolume\(params: SelfAudioSpeakerSetVolumeParams\): Promise<string>;$/m,
		);
	});
});
