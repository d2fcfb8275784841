import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { promisify } from "node:util";
import { moduleUrl } from "../../../host-test/e2e/program.js";
import { IS_FULL } from "../../../host-test/support/scope.js";
import { temporaryFolder } from "../../../host-test/support/temporary-folder.js";
import { SaveState } from "../../src/config/save-state.js";
import { TokenStore } from "../../src/config/token-store.js";

function makeFolder(_t: TestContext): { folder: string; file: string } {
	const folder = temporaryFolder("xs-mcp-tokens-");
	return { folder, file: join(folder, "tokens.json") };
}

describe("the token store", () => {
	it("verifies a token that it made, for its kind only", async (t) => {
		const store = new TokenStore(makeFolder(t).folder);
		const secret = await store.add({ name: "laptop", kind: "client", devices: ["a"], userTools: true });
		assert.equal(store.verify("client", secret)?.name, "laptop");
		assert.deepEqual(store.verify("client", secret)?.devices, ["a"]);
		assert.equal(store.verify("device", secret), undefined, "a client's token is not a device's");
		assert.equal(store.verify("client", `${secret}x`), undefined);
		assert.equal(store.verify("client", ""), undefined);
		assert.ok(store.has("client"));
		assert.ok(!store.has("device"));
	});

	it("makes tokens of 256 random bits", async (t) => {
		const store = new TokenStore(makeFolder(t).folder);
		const [one, other] = await Promise.all(["one", "other"].map((name) => store.add({ name, kind: "device" })));
		assert.match(one ?? "", /^xsmcp_[A-Za-z0-9_-]{43}$/);
		assert.notEqual(one, other);
	});

	it("stores only the hash of a token, in a file that only this user may read", async (t) => {
		const { folder, file } = makeFolder(t);
		const secret = await new TokenStore(folder).add({ name: "laptop", kind: "client" });
		assert.ok(!readFileSync(file, "utf8").includes(secret));
		if (process.platform !== "win32") {
			assert.equal(statSync(file).mode & 0o777, 0o600);
		}
	});

	it("notices what another process adds and removes", async (t) => {
		const { folder } = makeFolder(t);
		const [running, commandLine] = [new TokenStore(folder), new TokenStore(folder)];
		const secret = await commandLine.add({ name: "laptop", kind: "client" });
		assert.equal(running.refresh(), true);
		assert.equal(running.refresh(), false);
		assert.equal(running.verify("client", secret)?.name, "laptop");
		await commandLine.remove("laptop");
		assert.equal(running.verify("client", secret), undefined);
	});

	it("rejects a name that is in use or not allowed, and removing an unknown token", async (t) => {
		const store = new TokenStore(makeFolder(t).folder);
		await store.add({ name: "laptop", kind: "client" });
		await assert.rejects(store.add({ name: "laptop", kind: "device" }), /token laptop already exists/);
		await assert.rejects(store.add({ name: "my laptop", kind: "client" }), /name: expected/);
		await assert.rejects(store.remove("phone"), /unknown token phone/);
	});

	it("rejects a damaged file at the start, and says where it is damaged", async (t) => {
		const { folder, file } = makeFolder(t);
		for (const [content, message] of [
			["{", /tokens\.json: cannot be read/],
			["{}", /tokens\.json: version: .*expected 1/],
			['{"version":1,"tokens":[{"name":"x"}]}', /tokens\.json: tokens\.0\.kind: /],
		] as const) {
			writeFileSync(file, content);
			assert.throws(() => new TokenStore(folder), message);
		}
	});

	it("keeps its tokens if the file is damaged later, and says so once", async (t) => {
		const { folder, file } = makeFolder(t);
		const damaged: string[] = [];
		const store = new TokenStore(folder, (error) => damaged.push(error.message));
		const secret = await store.add({ name: "laptop", kind: "client" });
		writeFileSync(file, "{");
		assert.equal(store.verify("client", secret)?.name, "laptop");
		assert.equal(store.verify("client", secret)?.name, "laptop");
		assert.equal(damaged.length, 1);
	});

	it("reads the kind of version 0.1, host, as client", async (t) => {
		const { folder, file } = makeFolder(t);
		const secret = await new TokenStore(folder).add({ name: "laptop", kind: "client" });
		writeFileSync(file, readFileSync(file, "utf8").replace('"client"', '"host"'));
		assert.equal(new TokenStore(folder).verify("client", secret)?.kind, "client");
	});

	it("reads a file again that could not be read, even if it looks unchanged", async (t) => {
		const { folder, file } = makeFolder(t);
		const [running, commandLine] = [new TokenStore(folder), new TokenStore(folder)];
		const secret = await commandLine.add({ name: "laptop", kind: "client" });
		const content = readFileSync(file, "utf8");
		const rewrite = (text: string): void => {
			writeFileSync(file, text);
			utimesSync(file, 1, 1);
		};
		rewrite(content.replace("{", "?"));
		assert.equal(running.verify("client", secret), undefined);
		rewrite(content);
		assert.equal(running.verify("client", secret)?.name, "laptop");
	});

	it("keeps every token that several processes add at the same time", async (t) => {
		const { folder } = makeFolder(t);
		const names = Array.from({ length: IS_FULL ? 12 : 3 }, (_, index) => `token-${index}`);
		await changeElsewhere(
			folder,
			names.map((name) => `add({ name: "${name}", kind: "client" })`),
		);
		assert.deepEqual(namesIn(folder), [...names].sort());
	});

	it("does not bring a removed token back when another process adds one at the same time", async (t) => {
		const { folder } = makeFolder(t);
		const names = Array.from({ length: IS_FULL ? 6 : 2 }, (_, index) => `old-${index}`);
		for (const name of names) {
			await new TokenStore(folder).add({ name, kind: "client" });
		}
		await changeElsewhere(
			folder,
			names.flatMap((name) => [`remove("${name}")`, `add({ name: "new-${name}", kind: "client" })`]),
		);
		assert.deepEqual(
			namesIn(folder),
			names.map((name) => `new-${name}`),
		);
	});

	it("keeps what another process stores that took over the lock of one that did not run for a while", async (t) => {
		const { folder, file } = makeFolder(t);
		const [slow, other] = [new TokenStore(folder), new TokenStore(folder)];
		await slow.add({ name: "laptop", kind: "client" });
		let isStopped = true;
		slow.share({
			now: Date.now(),
			changed: () => {},
			catchUp: async () => {},
			forbid: async () => {},
			commit: async () => {
				if (isStopped) {
					isStopped = false;
					utimesSync(`${file}.locked`, 1, 1);
					await other.remove("laptop");
				}
				return true;
			},
		});
		await slow.add({ name: "phone", kind: "client" });
		assert.deepEqual(namesIn(folder), ["phone"]);
		assert.deepEqual([slow.has("client"), slow.records.length], [true, 1]);
	});

	it("notices a token that another process removes just after it has written the file", async (t) => {
		const { folder, file } = makeFolder(t);
		const other = new TokenStore(folder);
		await other.add({ name: "laptop", kind: "client" });
		const saves = new (class extends SaveState {
			override async watch<T>(write: Promise<T>): Promise<T> {
				const result = await write;
				// This process does not run for a while.
				utimesSync(`${file}.locked`, 1, 1);
				await other.remove("laptop");
				return result;
			}
		})();
		const slow = new TokenStore(folder, undefined, saves);
		await slow.add({ name: "phone", kind: "client" });
		slow.refresh();
		const found = slow.records.map(({ name }) => name);
		assert.deepEqual(found, ["phone"]);
	});

	it("takes over the lock of a process that was killed, and is not blocked until then", async (t) => {
		const { folder, file } = makeFolder(t);
		const store = new TokenStore(folder);
		mkdirSync(`${file}.locked`);
		let turns = 0;
		const timer = setInterval(() => {
			turns += 1;
		}, 1);
		t.after(() => clearInterval(timer));
		await Promise.all(["laptop", "phone"].map((name) => store.add({ name, kind: "client" })));
		assert.deepEqual(namesIn(folder), ["laptop", "phone"]);
		assert.ok(turns > 1, `other work went on meanwhile: ${turns} turns`);
	});

	it("remembers that a kind had a token, until somebody says open", async (t) => {
		const { folder, file } = makeFolder(t);
		const store = new TokenStore(folder);
		assert.equal(store.needs("client"), false);
		await store.add({ name: "laptop", kind: "client" });
		await store.add({ name: "lamp", kind: "device" });
		await store.remove("laptop");
		assert.deepEqual([store.needs("client"), new TokenStore(folder).needs("client")], [true, true]);
		rmSync(file);
		assert.deepEqual([store.needs("device"), new TokenStore(folder).needs("device")], [true, true]);
		await store.add({ name: "fan", kind: "device" });
		await store.open();
		const later = new TokenStore(folder);
		assert.deepEqual([later.needs("client"), later.needs("device")], [false, true]);
	});
});

const SOURCE = moduleUrl("gateway/src/config/token-store.ts");

function namesIn(folder: string): string[] {
	return new TokenStore(folder).records.map(({ name }) => name).sort();
}

/** Makes each change in a process of its own. They wait for one another, so that they change the file at the same time. */
async function changeElsewhere(folder: string, changes: readonly string[]): Promise<void> {
	await Promise.all(
		changes.map(async (change, index) => {
			const program = `
				import { readdirSync, writeFileSync } from "node:fs";
				import { setTimeout } from "node:timers/promises";
				import { TokenStore } from ${JSON.stringify(SOURCE)};
				const store = new TokenStore(${JSON.stringify(folder)});
				writeFileSync(${JSON.stringify(join(folder, `ready-${index}`))}, "");
				while (readdirSync(${JSON.stringify(folder)}).filter((name) => name.startsWith("ready-")).length < ${changes.length}) {
					await setTimeout(1);
				}
				await store.${change};
			`;
			const args = ["--input-type=module", "--eval", program];
			await promisify(execFile)(process.execPath, args);
		}),
	);
}
