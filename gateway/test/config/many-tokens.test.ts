import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type TokenRecord, TokenStore } from "../../src/config/token-store.js";
import { makeStateFolder } from "../support/program.js";

const MANY = 1_000;
const CREATED = "2026-01-01T00:00:00.000Z";
const EXPIRES = "2999-01-01T00:00:00.000Z";

function sha256(secret: string): string {
	return createHash("sha256").update(secret).digest("hex");
}

function idOf(at: number): string {
	return `device-${at}`;
}

/** A store with the tokens of many bound devices, an operator's and a sign-in; the token of each is its name. */
function makeStore(): TokenStore {
	const folder = makeStateFolder();
	const bound = Array.from({ length: MANY }, (_, at): TokenRecord => {
		const name = `device:${idOf(at)}`;
		return { name, kind: "device", created: CREATED, devices: [idOf(at)], salt: "00", sha256: sha256(name) };
	});
	const operator: TokenRecord = {
		name: "me",
		kind: "client",
		created: CREATED,
		operator: true,
		sha256: sha256("me"),
	};
	const signIn: TokenRecord = {
		name: "client:test-1",
		kind: "client",
		created: CREATED,
		expires: EXPIRES,
		grant: {
			client: "test",
			clientName: "Test",
			audience: "https://gateway.example/mcp",
			access: sha256("access"),
			accessExpires: EXPIRES,
			refresh: sha256("refresh"),
		},
		sha256: sha256("client:test-1"),
	};
	writeFileSync(join(folder, "tokens.json"), JSON.stringify({ version: 1, tokens: [...bound, operator, signIn] }));
	return new TokenStore(folder);
}

/** Has records tell when somebody looks at them. */
function watch(records: readonly TokenRecord[]): { looked: Set<TokenRecord> } {
	const watched = { looked: new Set<TokenRecord>() };
	for (const record of records) {
		for (const [key, value] of Object.entries(record)) {
			Object.defineProperty(record, key, {
				enumerable: true,
				get: () => {
					watched.looked.add(record);
					return value;
				},
			});
		}
	}
	return watched;
}

describe("a store of many tokens", () => {
	it("finds a token, or its absence, without comparing it with the others", () => {
		const store = makeStore();
		const last = idOf(MANY - 1);
		const watched = watch(store.records);
		for (const [name, find] of [
			["me", () => store.verify("client", "me")],
			["me", () => store.current(sha256("me"))],
			[`device:${last}`, () => store.verify("device", `device:${last}`)],
			[`device:${last}`, () => store.boundTo(last)],
			["client:test-1", () => store.ofAccess("access")],
			[undefined, () => store.verify("client", "wrong")],
			[undefined, () => store.ofAccess("wrong")],
		] as const) {
			watched.looked.clear();
			const found = find();
			assert.ok(watched.looked.size <= 1, `${name}: ${watched.looked.size} records were looked at`);
			assert.equal(found?.name, name);
		}
	});

	it("tells a client's token, a device's and what identifies a sign-in from one another", () => {
		const store = makeStore();
		assert.equal(store.verify("device", "me"), undefined);
		assert.equal(store.verify("client", `device:${idOf(0)}`), undefined);
		assert.equal(store.verify("client", "client:test-1"), undefined);
		assert.equal(store.verify("client", "access"), undefined);
		assert.equal(store.ofAccess("me"), undefined);
	});

	it("changes one record without reading the others again, and another process reads the same", async () => {
		const folder = makeStateFolder();
		const store = new TokenStore(folder);
		await store.bind("lamp", "secret", "00");
		const [lamp] = store.records;
		await store.bind("fan", "other", "00");
		assert.equal(store.records[0], lamp);
		assert.equal(store.refresh(), false);
		assert.deepEqual(new TokenStore(folder).records, store.records);
		await store.remove("device:lamp");
		assert.equal(store.boundTo("lamp"), undefined);
		assert.equal(store.verify("device", "secret"), undefined);
		assert.equal(store.verify("device", "other"), store.boundTo("fan"));
	});
});
