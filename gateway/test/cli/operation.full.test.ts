import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/until.js";
import { LAMP, untilOnline } from "../cluster/support/gateways.js";
import { NatsServer, whyNoNats } from "../cluster/support/nats-server.js";
import { PROGRAM, run } from "../support/command-line.js";
import { WireDevice } from "../support/gateway.js";
import { makeStateFolder, type StartedProgram, startProgram } from "../support/program.js";

/** The blocks of commands of docs/gateway/operation.md that back a gateway up, and restore it. */
const [BACK_UP = "", RESTORE = ""] = (() => {
	const page = readFileSync(new URL("../../../docs/gateway/operation.md", import.meta.url), "utf8");
	const [, section = ""] = page.split("\n## How do I back up, restore and move it?\n");
	return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands = ""]) => commands);
})();

/** A machine with the commands of the docs, and a place for the backup. */
function makeMachine() {
	const place = makeStateFolder();
	const bin = join(place, "bin");
	mkdirSync(bin);
	symlinkSync(PROGRAM, join(bin, "xs-mcp-gateway"));
	return (commands: string, stateFolder: string): string =>
		execFileSync("bash", ["-ec", commands], {
			cwd: place,
			encoding: "utf8",
			env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, XS_MCP_GATEWAY_STATE_FOLDER: stateFolder },
		});
}

const withToken = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });

describe("the commands of docs/gateway/operation.md", { skip: process.platform === "win32" && "need bash" }, () => {
	it("back up a gateway that runs, and restore it, here or elsewhere: tokens, names, keys and audit log", async (t) => {
		const onMachine = makeMachine();
		const gateway = await startProgram(t);
		const { stateFolder } = gateway;
		await WireDevice.connect(t, gateway, { id: LAMP });
		await gateway.gateway.servers.edit(LAMP, { alias: "kitchen" });
		assert.equal((await fetch(`${gateway.base}/devices/nothing`, { method: "DELETE" })).status, 404);
		const token = await gateway.tokens.add({ name: "laptop", kind: "client", operator: true });
		await until(
			async () => (await (await fetch(`${gateway.base}/audit`, withToken(token))).text()).includes("nothing"),
			"the change is noted",
		);
		const key = readFileSync(join(stateFolder, "device-key"), "utf8");
		onMachine(BACK_UP, stateFolder);
		await gateway.tokens.remove("laptop");
		await gateway.gateway.servers.edit(LAMP, { alias: "cellar" });
		await gateway.program.close();

		assert.match(onMachine(RESTORE, stateFolder), /laptop/);
		assert.ok(statSync(`${stateFolder}.before`).isDirectory());
		assert.equal(statSync(stateFolder).mode & 0o777, 0o700);
		const restored = await startProgram(t, {}, stateFolder);
		assert.equal(restored.gateway.servers.find("kitchen")?.id, LAMP);
		assert.equal((await fetch(`${restored.base}/devices`, withToken(token))).status, 200);
		assert.match(await (await fetch(`${restored.base}/audit`, withToken(token))).text(), /nothing/);
		assert.equal(readFileSync(join(stateFolder, "device-key"), "utf8"), key);
	});
});

describe("a gateway after a downgrade", () => {
	it("ignores files and members that it does not know", async (t) => {
		const gateway = await startProgram(t);
		const { stateFolder } = gateway;
		const token = await gateway.tokens.add({ name: "laptop", kind: "client" });
		await WireDevice.connect(t, gateway, { id: LAMP });
		await gateway.program.close();
		writeFileSync(join(stateFolder, "newer.json"), "{}");
		for (const name of readdirSync(stateFolder, { recursive: true, encoding: "utf8" })) {
			if (name.endsWith(".json") && name !== "newer.json") {
				const content = JSON.parse(readFileSync(join(stateFolder, name), "utf8"));
				const records = Array.isArray(content.tokens) ? { tokens: content.tokens.map(addNewer) } : {};
				writeFileSync(join(stateFolder, name), JSON.stringify(addNewer({ ...content, ...records })));
			}
		}
		const older = await startProgram(t, {}, stateFolder);
		assert.equal(older.gateway.servers.find(LAMP)?.id, LAMP);
		assert.equal((await fetch(`${older.base}/devices`, withToken(token))).status, 200);
	});

	it("names a setting that it does not know, and does not start", async (t) => {
		const folder = makeStateFolder();
		const file = join(folder, "settings.json");
		writeFileSync(file, JSON.stringify({ newerSetting: 1 }));
		const { code, stderr } = await run(t, ["--config", file, "--state-folder", folder]);
		assert.equal(code, 2);
		assert.match(stderr, /newerSetting: unknown setting/);
	});
});

/** The names of the tokens in a gateway's folder. */
function namesOf({ tokens }: Pick<StartedProgram, "tokens">): string[] {
	tokens.refresh();
	return tokens.records.map(({ name }) => name).sort();
}

const addNewer = (object: object): object => ({ ...object, newer: { of: "another version" } });

describe("a cluster", { skip: whyNoNats }, () => {
	it("does not get a removed token or an old alias back from a restored gateway", async (t) => {
		const onMachine = makeMachine();
		const nats = await NatsServer.start(t);
		const join = (clusterName: string, folder = makeStateFolder()) =>
			startProgram(t, { cluster: nats.url, clusterName, offlineWait: 100 }, folder);
		const [a, b] = [await join("a"), await join("b")];
		await WireDevice.connect(t, a, { id: LAMP });
		await untilOnline(b);
		await b.tokens.add({ name: "kept", kind: "client" });
		await b.tokens.add({ name: "lost", kind: "client" });
		await until(() => namesOf(a).length === 2, "a has both tokens");
		onMachine(BACK_UP, a.stateFolder);
		await b.tokens.remove("lost");
		await b.gateway.servers.edit(LAMP, { alias: "cellar" });
		await until(() => namesOf(a).length === 1 && a.gateway.servers.find("cellar") !== undefined, "a follows");
		await a.program.close();
		assert.match(onMachine(RESTORE, a.stateFolder), /lost/);
		const restored = await join("a", a.stateFolder);
		await until(() => namesOf(restored).length === 1, "the token is removed again");
		await until(() => restored.gateway.servers.find("cellar") !== undefined, "the device has its alias again");
		assert.deepEqual(namesOf(b), ["kept"]);
	});

	it("has its tokens again after NATS has lost everything", async (t) => {
		const first = await NatsServer.start(t);
		const folders = [makeStateFolder(), makeStateFolder()];
		const start = async (nats: NatsServer, at: number) =>
			await startProgram(t, { cluster: nats.url, clusterName: `${at}`, offlineWait: 100 }, folders[at]);
		const [a, b] = [await start(first, 0), await start(first, 1)];
		await WireDevice.connect(t, a, { id: LAMP });
		await untilOnline(b);
		await a.tokens.add({ name: "kept", kind: "client" });
		await until(() => namesOf(b).length === 1, "b has the token");
		await a.program.close();
		await b.program.close();
		const empty = await NatsServer.start(t);
		const [again] = [await start(empty, 0), await start(empty, 1)];
		assert.deepEqual(namesOf(again), ["kept"]);
		// A gateway that has never been there gets them from the others.
		const newcomer = await startProgram(t, { cluster: empty.url, clusterName: "new", offlineWait: 100 });
		await until(() => namesOf(newcomer).includes("kept"), "it has the token");
	});
});
