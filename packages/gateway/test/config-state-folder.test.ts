import assert from "node:assert/strict";
import {
	chmodSync,
	chownSync,
	existsSync,
	mkdirSync,
	readdirSync,
	rmSync,
	statSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { lockStateFolder } from "../src/config/state-files.js";
import { FREE_PORTS, run, startListening } from "../testing/command-line.js";
import { LAMP, WireDevice } from "../testing/gateway.js";
import { makeStateFolder, sendJson, startProgram, tokensIn } from "../testing/program.js";

describe("the state folder", () => {
	it("is of one gateway: another one does not start with it, and says what to do", async (t) => {
		const first = await startProgram(t);
		const second = startProgram(t, {}, first.stateFolder);
		await assert.rejects(second, {
			name: "ConfigurationError",
			message: /^stateFolder .*: another gateway runs with this folder.*--state-folder.*xs-mcp-gateway stdio$/,
		});
		await first.gateway.close();
		await startProgram(t, {}, first.stateFolder);
	});

	it("is free again after its gateway was killed", async (t) => {
		const stateFolder = makeStateFolder();
		const { child, exited } = await startListening(t, [...FREE_PORTS, "--no-announce", "--state-folder", stateFolder]);
		assert.deepEqual(readdirSync(stateFolder).includes("gateway.locked"), true);
		child.kill("SIGKILL");
		await exited;
		await startProgram(t, {}, stateFolder);
	});

	it("that cannot be made is named, with the cure", async () => {
		const file = join(makeStateFolder(), "file");
		writeFileSync(file, "");
		const cure =
			/^stateFolder .*file.state: cannot be written: a part of the path is a file: choose another folder with --state-folder/;
		await assert.rejects(
			lockStateFolder(join(file, "state"), () => {}),
			{ name: "ConfigurationError", message: cure },
		);
	});

	it("is left to one gateway when one was stopped while another took it over", async (t) => {
		const stateFolder = makeStateFolder();
		const stopped = await startListening(t, [...FREE_PORTS, "--no-announce", "--state-folder", stateFolder]);
		stopped.child.kill("SIGSTOP");
		const other = await startProgram(t, {}, stateFolder);
		stopped.child.kill("SIGCONT");
		// If it was stopped in the middle of a renewal of its lock, it keeps the folder, and the other one loses it.
		const loses = /another gateway has taken this folder over/;
		await until(() => loses.test(stopped.output.stderr + other.log()), "one of them loses the folder");
	});

	it("is freed of temporary files and recordings of killed processes", async (t) => {
		const stateFolder = makeStateFolder();
		mkdirSync(join(stateFolder, "recordings", "speech-x"), { recursive: true });
		mkdirSync(join(stateFolder, "sessions"));
		const old = ["tokens.json.123456", "device-key.42", "sessions/sessions.json.7"];
		const kept = ["tokens.json.5", "notes.123"];
		for (const file of [...old, ...kept]) {
			writeFileSync(join(stateFolder, file), "");
		}
		for (const file of [...old, "notes.123"]) {
			utimesSync(join(stateFolder, file), 1, 1);
		}
		await startProgram(t, { microphones: true }, stateFolder);
		const left = [...old, ...kept, "recordings"].filter((file) => existsSync(join(stateFolder, file)));
		assert.deepEqual(left, kept);
	});

	describe("of another user than root", { skip: process.getuid?.() !== 0 && "only root can make one" }, () => {
		const NOBODY = 65_534;

		it("is opened beside folders of root, but not with entries of root, which are kept", async (t) => {
			const stateFolder = makeStateFolder();
			const give = (paths: readonly string[]): void =>
				paths.forEach((path) => void chownSync(join(stateFolder, path), NOBODY, NOBODY));
			await tokensIn(stateFolder).add({ name: "laptop", kind: "client" });
			const all = ["", ...readdirSync(stateFolder, { recursive: true, encoding: "utf8" })];
			give(all.filter((path) => !/token.*\.json$/.test(path)));
			mkdirSync(join(stateFolder, "lost+found"), { mode: 0o700 });
			t.after(() => process.seteuid?.(0));
			process.seteuid?.(NOBODY);
			await assert.rejects(startProgram(t, {}, stateFolder), {
				name: "ConfigurationError",
				message: /^stateFolder .*token.*\.json: cannot be read: .*chown -R/,
			});
			process.seteuid?.(0);
			give(all);
			process.seteuid?.(NOBODY);
			const { gateway, tokens } = await startProgram(t, {}, stateFolder);
			assert.equal(tokens.records.length, 1);
			await gateway.close();
		});

		it("keeps its owner when root adds a token", async (t) => {
			const stateFolder = makeStateFolder();
			chownSync(stateFolder, NOBODY, NOBODY);
			const { code } = await run(t, ["token", "add", "laptop", "--for", "client", "--state-folder", stateFolder]);
			assert.equal(code, 0);
			const files = readdirSync(stateFolder, { recursive: true, encoding: "utf8" });
			const owners = files.map((file) => statSync(join(stateFolder, file)).uid);
			assert.deepEqual(new Set(owners), new Set([NOBODY]));
		});
	});

	it("that every user can change is warned of", { skip: process.platform === "win32" }, async (t) => {
		const stateFolder = makeStateFolder();
		chmodSync(stateFolder, 0o777);
		const { log } = await startProgram(t, {}, stateFolder);
		assert.match(log(), /stateFolder .*: every user of this machine can change it: chmod o-w/);
	});

	it("that cannot be read is named", async (t) => {
		const stateFolder = makeStateFolder();
		writeFileSync(join(stateFolder, "events"), "");
		await assert.rejects(startProgram(t, {}, stateFolder), {
			name: "ConfigurationError",
			message: new RegExp(`^stateFolder ${stateFolder}: .*events`),
		});
	});

	it("that cannot be written is in the log, the metrics and /healthz, until it can be", async (t) => {
		const gateway = await startProgram(t);
		const { base, stateFolder } = gateway;
		await WireDevice.connect(t, gateway, { id: LAMP });
		const { servers } = gateway.gateway;
		const health = async () => await (await fetch(`${base}/healthz`)).json();
		const failures = async (): Promise<number> => {
			const text = await (await fetch(`${base}/metrics`)).text();
			return Number(/^xs_mcp_gateway_saves_failed_total ([0-9]+)$/m.exec(text)?.[1]);
		};
		await servers.edit(LAMP, { alias: "kitchen" });
		// Its record is written in the background, which would count as saved again.
		const devices = join(stateFolder, "store", "device");
		await until(() => existsSync(devices) && readdirSync(devices).length > 0, "its record is stored");
		assert.deepEqual([await health(), await failures()], [{ status: "ok" }, 0]);
		const aliases = join(stateFolder, "store", "alias");
		rmSync(aliases, { recursive: true });
		writeFileSync(aliases, "");
		const rename = (alias: string) => sendJson("PATCH", `${base}/devices/${encodeURIComponent(LAMP)}`, { alias });
		const refused = await rename("hall");
		assert.equal(refused.status, 503);
		assert.match((await refused.json()).error.message, /cannot be saved/);
		assert.equal(servers.find(LAMP)?.alias, "kitchen");
		assert.deepEqual(
			[await health(), await failures()],
			[{ status: "degraded", problem: "the state cannot be saved" }, 1],
		);
		assert.match(gateway.log(), /the state cannot be saved: .*EEXIST/);
		rmSync(aliases);
		mkdirSync(aliases);
		assert.equal((await rename("hall")).status, 200);
		assert.deepEqual([await health(), await failures()], [{ status: "ok" }, 1]);
		assert.match(gateway.log(), /the state can be saved again/);
	});
});
