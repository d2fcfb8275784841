import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { MemoryStore } from "xs-mcp-manager/core";
import { until } from "../../../host-test/support/testing.js";
import type { TokenRecord } from "../src/config/access.js";
import { TokenStore } from "../src/config/token-store.js";
import { makeStateFolder, storeIn, tokensIn } from "../testing/program.js";

const HOUR = 3_600_000;

function makeTokens(): { store: MemoryStore; tokens: TokenStore } {
	const store = new MemoryStore();
	return { store, tokens: new TokenStore(store) };
}

function signIn(at: number, expires = Date.now() + HOUR) {
	const hash = at.toString(16).padStart(64, "0");
	const later = new Date(expires).toISOString();
	const grant = { client: "id", clientName: "C", audience: "/mcp", access: hash, accessExpires: later, refresh: hash };
	return { name: `client:c-${at}`, grant, expires: later, sha256: hash };
}

const namesIn = (tokens: TokenStore): string[] => tokens.records.map(({ name }) => name).sort();

describe("the token store", () => {
	it("verifies a token that it made, for its kind only", async () => {
		const { tokens } = makeTokens();
		const secret = await tokens.add({ name: "laptop", kind: "client", devices: ["a"], userTools: true });
		assert.match(secret, /^xsmcp_[A-Za-z0-9_-]{43}$/);
		assert.equal(tokens.verify("client", secret)?.name, "laptop");
		assert.deepEqual(tokens.verify("client", secret)?.devices, ["a"]);
		assert.equal(tokens.verify("device", secret), undefined, "a client's token is not a device's");
		assert.equal(tokens.verify("client", `${secret}x`), undefined);
		assert.equal(tokens.verify("client", ""), undefined);
		assert.deepEqual([tokens.has("client"), tokens.has("device")], [true, false]);
	});

	it("rejects a name that is in use or not allowed, and removing an unknown token", async () => {
		const { tokens } = makeTokens();
		await tokens.add({ name: "laptop", kind: "client" });
		await assert.rejects(tokens.add({ name: "laptop", kind: "device" }), /token laptop already exists/);
		assert.equal(tokens.needs("device"), false);
		await assert.rejects(tokens.add({ name: "local", kind: "client" }), /token local already exists/);
		await assert.rejects(tokens.add({ name: "my laptop", kind: "client" }), /name: expected/);
		await assert.rejects(tokens.remove("phone"), /unknown token phone/);
	});

	it("edits a token for one of two processes, and never brings back a secret that was revoked", async () => {
		const folder = makeStateFolder();
		const [one, other] = [tokensIn(folder), tokensIn(folder)];
		const secret = await one.add({ name: "ci", kind: "client" });
		const revisionOf = (tokens: TokenStore): number => {
			tokens.refresh();
			return tokens.revisionOf(tokens.records[0] as TokenRecord);
		};
		const revision = revisionOf(other);
		const edits = [one, other].map((tokens, at) =>
			tokens.change({ name: "ci", kind: "client", devices: [`d${at}`] }, revision),
		);
		assert.deepEqual((await Promise.allSettled(edits)).map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
		await assert.rejects(Promise.all(edits), { code: "conflict" });
		const before = revisionOf(other);
		await one.remove("ci");
		await one.add({ name: "ci", kind: "client" });
		await assert.rejects(other.change({ name: "ci", kind: "client" }, before), { code: "conflict" });
		assert.equal(other.verify("client", secret), undefined);
	});

	it("reads the tokens again after a failure, even for the same turn of the event loop", async (t) => {
		const folder = makeStateFolder();
		const [store, other] = [storeIn(folder), tokensIn(folder)];
		const secret = await other.add({ name: "laptop", kind: "client" });
		const tokens = new TokenStore(store);
		await other.remove("laptop");
		t.mock.method(store, "refresh", () => assert.fail("EACCES"), { times: 1 });
		assert.throws(() => tokens.verify("client", secret), /EACCES/);
		assert.equal(tokens.verify("client", secret), undefined);
	});

	it("does not take the id of a sign-in as a token", async () => {
		const { store, tokens } = makeTokens();
		const [laptop] = await Promise.all([tokens.add({ name: "laptop", kind: "client" })]);
		const record = tokens.verify("client", laptop);
		assert.ok(record);
		const sign = { ...signIn(1), sha256: record.sha256 };
		await tokens.remove("laptop");
		await tokens.addSignIn(sign);
		assert.equal(tokens.verify("client", laptop), undefined);
		assert.equal(store.list("sign-in/").length, 1);
	});

	it("ignores entries that are not a record, or one of another key", async () => {
		const { store, tokens } = makeTokens();
		const secret = await tokens.add({ name: "laptop", kind: "client" });
		const [entry] = store.list("token/");
		await store.set("token/other", entry?.value);
		await store.set("token/broken", { name: "broken" });
		assert.deepEqual(namesIn(tokens), ["laptop"]);
		await store.set("token/laptop", { ...(entry?.value as object), kind: "robot" });
		assert.equal(tokens.verify("client", secret), undefined);
	});

	it("has room for 200 sign-ins, of which the expired ones are removed", async () => {
		const { store, tokens } = makeTokens();
		for (let at = 0; at < 200; at += 1) {
			await tokens.addSignIn(signIn(at, at < 100 ? 0 : Date.now() + HOUR));
		}
		assert.equal(store.list("sign-in/").length, 100);
		for (let at = 200; at < 300; at += 1) {
			await tokens.addSignIn(signIn(at));
		}
		await assert.rejects(tokens.addSignIn(signIn(300)), /too many clients have signed in \(limit 200\)/);
	});

	it("remembers that a kind had a token, until somebody says open", async () => {
		const { store, tokens } = makeTokens();
		assert.equal(tokens.needs("client"), false);
		await tokens.add({ name: "laptop", kind: "client" });
		await tokens.bind("lamp", "secret", "salt");
		await tokens.remove("laptop");
		const needs = () => ["client" as const, "device" as const].map((kind) => new TokenStore(store).needs(kind));
		assert.deepEqual(needs(), [true, true]);
		await tokens.open();
		assert.deepEqual(needs(), [false, true]);
	});

	it("lets nobody in when the store has lost everything", async () => {
		const { store, tokens } = makeTokens();
		await tokens.add({ name: "laptop", kind: "client" });
		for (const key of ["token/laptop", "needed/client"]) {
			await store.delete(key);
		}
		assert.equal(tokens.has("client"), false);
		assert.equal(tokens.needs("client"), true);
		await tokens.open();
		assert.equal(tokens.needs("client"), false);
	});

	it("writes the last use of a token once a minute, and forgets it with the token", async (t) => {
		t.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
		const { store, tokens } = makeTokens();
		const record = () => tokens.records[0] as (typeof tokens.records)[0];
		await tokens.add({ name: "laptop", kind: "client" });
		assert.equal(tokens.lastUse(record()), undefined);
		const written: unknown[] = [];
		store.watch("token-use/", (_key, entry) => written.push(entry?.value));
		for (let second = 0; second < 130; second += 1) {
			tokens.used(record());
			await store.flush();
			t.mock.timers.tick(1_000);
		}
		assert.deepEqual(written, [1_000_000, 1_060_000, 1_120_000]);
		assert.equal(new TokenStore(store).lastUse(record()), 1_120_000);
		await tokens.remove("laptop");
		await tokens.add({ name: "laptop", kind: "client" });
		assert.equal(tokens.lastUse(record()), undefined);
		await store.flush();
		assert.deepEqual(store.list("token-use/"), []);
	});
});

describe("the tokens of a state folder", () => {
	it("are stored as hashes, in files that only this user may read", async () => {
		const folder = makeStateFolder();
		const secret = await tokensIn(folder).add({ name: "laptop", kind: "client" });
		const room = join(folder, "store", "token");
		const [file = ""] = readdirSync(room).filter((name) => name.endsWith(".json"));
		assert.ok(!readFileSync(join(room, file), "utf8").includes(secret));
		if (process.platform !== "win32") {
			assert.deepEqual([statSync(room).mode & 0o777, statSync(join(room, file)).mode & 0o777], [0o700, 0o600]);
		}
	});

	it("are added and removed by another process", async () => {
		const folder = makeStateFolder();
		const [running, commandLine] = [tokensIn(folder), tokensIn(folder)];
		const secret = await commandLine.add({ name: "laptop", kind: "client" });
		assert.equal(running.verify("client", secret)?.name, "laptop");
		await commandLine.remove("laptop");
		assert.equal(running.verify("client", secret), undefined);
		assert.equal(running.needs("client"), true);
	});

	it("stay removed if that is done while a process does not run that is about to change them", async () => {
		const folder = makeStateFolder();
		const [slow, other] = [storeIn(folder), tokensIn(folder)];
		await other.bind("lamp", "secret", "salt");
		slow.refresh("token/");
		const room = join(folder, "store", "token");
		const stopped = Object.assign(slow, {
			expect() {
				// Another process takes over the lock, and removes the entry.
				for (const name of readdirSync(room)) {
					rmSync(join(room, name));
				}
				writeFileSync(join(room, "version"), "");
			},
		});
		const [entry] = slow.list("token/");
		assert.ok(entry);
		await assert.rejects(stopped.set(entry.key, entry.value, entry.revision), { code: "conflict" });
		await assert.rejects(stopped.delete(entry.key, entry.revision), { code: "conflict" });
		assert.equal(tokensIn(folder).boundTo("lamp"), undefined);
	});

	it("are needed as before if somebody deletes them", async () => {
		const folder = makeStateFolder();
		await tokensIn(folder).add({ name: "laptop", kind: "client" });
		rmSync(join(folder, "store", "token"), { recursive: true });
		assert.equal(tokensIn(folder).needs("client"), true);
	});

	it("are changed soon after a process that has locked them was killed, and other work is not blocked until then", async () => {
		const folder = makeStateFolder();
		const locked = join(folder, "store", "token.locked");
		mkdirSync(locked, { recursive: true });
		let isDone = false;
		const added = Promise.all(["laptop", "phone"].map((name) => tokensIn(folder).add({ name, kind: "client" })));
		void added.then(() => {
			isDone = true;
		});
		let turns = 0;
		await until(() => {
			turns += 1;
			return isDone;
		}, "the tokens are added");
		assert.ok(turns > 1);
		assert.deepEqual(namesIn(tokensIn(folder)), ["laptop", "phone"]);
		assert.equal(existsSync(locked), false);
	});
});
