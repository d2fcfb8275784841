import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { run } from "../testing/command-line.js";
import { SET_VOLUME, WireDevice } from "../testing/gateway.js";
import { isKnownOffline, LAMP, startCluster } from "../testing/gateways.js";
import { NatsServer, whyNoNats } from "../testing/nats-server.js";
import { makeStateFolder, type StartedProgram, startProgram } from "../testing/program.js";

const OLD = "aa:bb:cc:00:00:02";

/** A state folder with the file of a device, as the version before has written it. */
function makeOldFolder(alias = "desk"): string {
	const folder = makeStateFolder();
	mkdirSync(join(folder, "devices"));
	const board = { name: "lamp", version: "1" };
	const record = { id: OLD, alias, tags: ["upstairs"], board, tools: [SET_VOLUME], lastSeen: 5 };
	writeFileSync(join(folder, "devices", "a.json"), JSON.stringify(record));
	writeFileSync(join(folder, "devices", "b.json"), "{");
	writeFileSync(join(folder, "tokens.json"), '{"version":1,"tokens":[]}');
	return folder;
}

describe("devices of the version before", () => {
	it("are read into the store once, and a damaged file is left out", async (t) => {
		const folder = makeOldFolder();
		const first = await startProgram(t, {}, folder);
		const { id, tags, tools, lastSeen } = first.gateway.servers.find("desk") ?? assert.fail();
		assert.deepEqual([id, tags, tools.length, lastSeen], [OLD, ["upstairs"], 1, 5]);
		assert.match(first.log(), /b\.json: .*: the device is left out/);
		assert.deepEqual(readdirSync(join(folder, "devices")).sort(), ["a.json.imported", "b.json"]);
		await first.gateway.servers.edit(OLD, { alias: "shelf" });
		await first.gateway.close();
		const second = await startProgram(t, {}, folder);
		assert.deepEqual([second.gateway.servers.find("shelf")?.id, second.gateway.servers.find("desk")], [OLD, undefined]);
	});
});

describe("xs-mcp-gateway cluster import", { skip: whyNoNats }, () => {
	it("copies devices of a gateway alone, of this version and the one before; what the cluster has stays", async (t) => {
		const folder = makeStateFolder();
		const alone = await startProgram(t, {}, folder);
		await (await WireDevice.connect(t, alone)).unplug();
		await alone.gateway.servers.edit(LAMP, { alias: "kitchen", tags: ["here"] });
		await alone.gateway.close();
		const nats = await NatsServer.start(t);
		const [a] = (await startCluster(t, nats, ["a"])) as [StartedProgram];
		const old = makeOldFolder("kitchen");
		for (const from of [folder, old]) {
			const flags = ["--cluster", nats.url, "--state-folder", from];
			const { code, stdout, stderr } = await run(t, ["cluster", "import", ...flags]);
			assert.equal(code, 0, stderr);
			assert.match(stdout, /[0-9]+ entries of .* are new in the store of nats:/);
		}
		assert.ok(existsSync(join(old, "tokens.json.imported")));
		await until(() => [LAMP, OLD].every((id) => isKnownOffline(a, id)), "a knows both");
		const { alias, tags, tools } = a.gateway.servers.find(LAMP) ?? assert.fail();
		assert.deepEqual([alias, tags, tools.length], ["kitchen", ["here"], 2]);
		assert.deepEqual(a.gateway.servers.find(OLD)?.tags, ["upstairs"]);
		assert.notEqual(a.gateway.servers.find(OLD)?.alias, "kitchen");
	});

	it("needs the URL of NATS", async (t) => {
		const { code, stderr } = await run(t, ["cluster", "import", "--state-folder", makeStateFolder()]);
		assert.equal(code, 2);
		assert.match(stderr, /cluster: name the NATS server/);
	});
});
