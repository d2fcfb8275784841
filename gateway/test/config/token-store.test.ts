import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { TokenStore } from "../../src/config/token-store.js";

function makeFolder(t: TestContext): { folder: string; file: string } {
	const folder = mkdtempSync(join(tmpdir(), "xs-mcp-tokens-"));
	t.after(() => rmSync(folder, { recursive: true }));
	return { folder, file: join(folder, "tokens.json") };
}

describe("the token store", () => {
	it("knows a token that it made, and whom it lets in", (t) => {
		const store = new TokenStore(makeFolder(t).folder);
		const secret = store.add({ name: "laptop", kind: "host", devices: ["a"], userTools: true });
		assert.equal(store.verify("host", secret)?.name, "laptop");
		assert.deepEqual(store.verify("host", secret)?.devices, ["a"]);
		assert.equal(store.verify("device", secret), undefined, "a host's token is not a device's");
		assert.equal(store.verify("host", `${secret}x`), undefined);
		assert.equal(store.verify("host", ""), undefined);
		assert.ok(store.has("host"));
		assert.ok(!store.has("device"));
	});

	it("makes tokens of 256 random bits", (t) => {
		const store = new TokenStore(makeFolder(t).folder);
		const [one, other] = ["one", "other"].map((name) => store.add({ name, kind: "device" }));
		assert.match(one ?? "", /^xsmcp_[A-Za-z0-9_-]{43}$/);
		assert.notEqual(one, other);
	});

	it("keeps no token, only its hash, in a file that is this user's alone", (t) => {
		const { folder, file } = makeFolder(t);
		const secret = new TokenStore(folder).add({ name: "laptop", kind: "host" });
		assert.ok(!readFileSync(file, "utf8").includes(secret));
		if (process.platform !== "win32") {
			assert.equal(statSync(file).mode & 0o777, 0o600);
		}
	});

	it("notices what another process adds and removes", (t) => {
		const { folder } = makeFolder(t);
		const [running, commandLine] = [new TokenStore(folder), new TokenStore(folder)];
		const secret = commandLine.add({ name: "laptop", kind: "host" });
		assert.equal(running.refresh(), true);
		assert.equal(running.refresh(), false);
		assert.equal(running.verify("host", secret)?.name, "laptop");
		commandLine.remove("laptop");
		assert.equal(running.verify("host", secret), undefined);
	});

	it("refuses a name that is taken or no name, and to remove what is not there", (t) => {
		const store = new TokenStore(makeFolder(t).folder);
		store.add({ name: "laptop", kind: "host" });
		assert.throws(() => store.add({ name: "laptop", kind: "device" }), /there is a token laptop already/);
		assert.throws(() => store.add({ name: "my laptop", kind: "host" }), /name: expected/);
		assert.throws(() => store.remove("phone"), /there is no token phone/);
	});

	it("does not begin with a damaged file, and says where it is damaged", (t) => {
		const { folder, file } = makeFolder(t);
		for (const [content, message] of [
			["{", /tokens\.json: cannot be read/],
			["{}", /tokens\.json: expected version 1/],
			['{"version":1,"tokens":[{"name":"x"}]}', /tokens\.json: tokens\[0\]: not a token/],
		] as const) {
			writeFileSync(file, content);
			assert.throws(() => new TokenStore(folder), message);
		}
	});

	it("keeps its tokens when the file is damaged later, and says so once", (t) => {
		const { folder, file } = makeFolder(t);
		const damaged: string[] = [];
		const store = new TokenStore(folder, (error) => damaged.push(error.message));
		const secret = store.add({ name: "laptop", kind: "host" });
		writeFileSync(file, "{");
		assert.equal(store.verify("host", secret)?.name, "laptop");
		assert.equal(store.verify("host", secret)?.name, "laptop");
		assert.equal(damaged.length, 1);
	});
});
