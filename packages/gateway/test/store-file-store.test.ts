import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { typeScript } from "../../../host-test/support/program.js";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { FileStore } from "../src/store/file-store.js";

describe("a store in files", () => {
	it("has in its files what its copy shows, whoever writes at once", async () => {
		const folder = temporaryFolder("xs-mcp-store-");
		const store = FileStore.open(folder);
		await Promise.all(Array.from({ length: 50 }, (_, n) => store.set("device/a", n)));
		assert.equal(FileStore.open(folder).get("device/a")?.value, store.get("device/a")?.value);
	});

	it("sets a damaged file aside, says so, and keeps the others", async () => {
		const folder = temporaryFolder("xs-mcp-store-");
		const store = FileStore.open(folder);
		await store.set("device/a", 1);
		const [name = ""] = readdirSync(join(folder, "device")).filter((each) => each.endsWith(".json"));
		const path = join(folder, "device", name);
		writeFileSync(path, readFileSync(path, "utf8").slice(0, 20));
		await store.set("device/b", 2);
		const warnings: string[] = [];
		const again = FileStore.open(folder, (message) => warnings.push(message));
		assert.deepEqual(
			again.list("device/").map(({ value }) => value),
			[2],
		);
		assert.equal(warnings.length, 1);
		assert.match(warnings[0] ?? "", /set aside as .*\.damaged$/);
		assert.ok(readdirSync(join(folder, "device")).includes(`${name}.damaged`));
	});

	it("lets nobody else read its files", async () => {
		const folder = join(temporaryFolder("xs-mcp-store-"), "store");
		const store = FileStore.open(folder);
		await store.set("token/a", 1, 0);
		await store.set("device/a", 1);
		const modes = ["", "token", "device"].map((room) => statSync(join(folder, room)).mode & 0o777);
		assert.deepEqual(modes, [0o700, 0o700, 0o700]);
		for (const room of ["token", "device"]) {
			const [name = ""] = readdirSync(join(folder, room)).filter((each) => each.endsWith(".json"));
			assert.equal(statSync(join(folder, room, name)).mode & 0o777, 0o600);
		}
	});

	it("says how to make room when it cannot be written, and keeps what it had", async () => {
		const folder = temporaryFolder("xs-mcp-store-");
		const store = FileStore.open(folder);
		await store.set("device/a", 1);
		// A file where the room of tokens would be.
		writeFileSync(join(folder, "token"), "");
		const problems: (string | undefined)[] = [];
		store.on("saved", (problem) => problems.push(problem?.code));
		await assert.rejects(store.set("token/a", 1, 0), { code: "not-written" });
		assert.equal(store.get("token/a"), undefined);
		await store.set("device/a", 2);
		assert.deepEqual(problems, ["not-written", undefined]);
	});

	it("has every change that was acknowledged before its process was killed", async () => {
		const folder = temporaryFolder("xs-mcp-store-");
		for (let round = 1; round <= 5; round += 1) {
			const child = spawn(process.execPath, typeScript("packages/gateway/testing/store-counter.ts", folder));
			const closed = once(child, "close");
			let last = 0;
			for await (const line of createInterface(child.stdout)) {
				last = Number(line);
				if (last >= round * 20) {
					break;
				}
			}
			child.kill("SIGKILL");
			await closed;
			const warnings: string[] = [];
			const store = FileStore.open(folder, (message) => warnings.push(message));
			assert.ok((store.get("counter/a")?.value as number) >= last, `round ${round}`);
			assert.ok((store.get("device/a")?.value as number) >= last, `round ${round}`);
			assert.deepEqual(warnings, []);
		}
	});
});
