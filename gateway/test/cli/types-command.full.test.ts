import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { temporaryFolder } from "../../../host-test/support/temporary-folder.js";
import { until } from "../../../host-test/support/until.js";
import { nodeServer, ODD_SERVER } from "../../../mcp-manager/test/support/upstreams.js";
import { ask } from "../support/command-line.js";
import { nextOnline, WireDevice } from "../support/gateway.js";
import { startProgram } from "../support/program.js";

describe("xs-mcp-gateway types", () => {
	it("writes the declarations of a configured server, and of a device", async (t) => {
		const file = `${temporaryFolder()}/mcp-servers.json`;
		await writeFile(file, JSON.stringify({ servers: [{ ...nodeServer("odd", ODD_SERVER), enabled: true }] }));
		const started = await startProgram(t, { serversFile: file });
		await until(() => started.gateway.servers.find("odd") !== undefined, "the server is known");
		const { code, stdout } = await ask(started)(t, "types", "odd");
		assert.equal(code, 0);
		assert.match(stdout, /^export interface Odd \{$/m);
		assert.match(stdout, /^\techo\(params\?: EchoParams\): Promise<string>;$/m);
		const online = nextOnline(started.gateway.servers);
		await WireDevice.connect(t, started);
		const { alias } = await online;
		const device = await ask(started)(t, "types", alias);
		assert.match(
			device.stdout,
			/^\tselfAudioSpeakerSetVolume\(params: SelfAudioSpeakerSetVolumeParams\): Promise<string>;$/m,
		);
	});
});
