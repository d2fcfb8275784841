import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { PROGRAM } from "../testing/command-line.js";
import { LAMP, WireDevice } from "../testing/gateway.js";
import { makeStateFolder, startProgram } from "../testing/program.js";

/** The blocks of commands of docs/gateway/operation.md that back a gateway up, and restore it. */
const [BACK_UP = "", RESTORE = ""] = (() => {
	const page = readFileSync(new URL("../../../docs/gateway/operation.md", import.meta.url), "utf8");
	const [, section = ""] = page.split("\n## Back up, restore and move a gateway\n");
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

it("the commands of docs/gateway/operation.md back up a gateway that runs, and restore it, here or elsewhere: tokens, names, keys and audit log", {
	skip: process.platform === "win32" && "need bash",
}, async (t) => {
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
	await gateway.gateway.close();

	assert.match(onMachine(RESTORE, stateFolder), /laptop/);
	assert.ok(statSync(`${stateFolder}.before`).isDirectory());
	assert.equal(statSync(stateFolder).mode & 0o777, 0o700);
	const restored = await startProgram(t, {}, stateFolder);
	assert.equal(restored.gateway.servers.find("kitchen")?.id, LAMP);
	assert.equal((await fetch(`${restored.base}/devices`, withToken(token))).status, 200);
	assert.match(await (await fetch(`${restored.base}/audit`, withToken(token))).text(), /nothing/);
	assert.equal(readFileSync(join(stateFolder, "device-key"), "utf8"), key);
});

it("a gateway after a downgrade ignores files and members that it does not know", async (t) => {
	const gateway = await startProgram(t);
	const { stateFolder } = gateway;
	const token = await gateway.tokens.add({ name: "laptop", kind: "client" });
	await WireDevice.connect(t, gateway, { id: LAMP });
	await gateway.gateway.close();
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

const addNewer = (object: object): object => ({ ...object, newer: { of: "another version" } });
