import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it, type TestContext } from "node:test";
import { type Entry, MemoryStore, type Store, StoreError } from "xs-mcp-manager/core";
import { IS_FULL } from "../../../host-test/support/scope.js";
import { until } from "../../../host-test/support/testing.js";
import { NatsStore } from "../src/cluster/nats-store.js";
import { makeSignInCode, TokenStore, takeSignInCode } from "../src/config/token-store.js";
import { openDeviceKey } from "../src/devices/device-key.js";
import { makeGrants } from "../src/oauth/grants.js";
import { FileStore } from "../src/store/file-store.js";
import { NatsServer, whyNoNats } from "../testing/nats-server.js";
import { makeStateFolder } from "../testing/program.js";

const TRIES = Number(process.env.XS_MCP_RACES ?? (IS_FULL ? 300 : 30));

interface Stores {
	readonly store: Store;
	readonly shortLived: Store;
}

async function openFiles(): Promise<[Stores, Stores]> {
	const folder = makeStateFolder();
	const shortLived = new MemoryStore();
	return [
		{ store: FileStore.open(folder), shortLived },
		{ store: FileStore.open(folder), shortLived },
	];
}

async function openNats(t: TestContext): Promise<[Stores, Stores]> {
	const server = await NatsServer.start(t);
	const open = async (): Promise<Stores> => {
		const connection = await server.connect(t);
		const settings = { max_bytes: 16 * 1024 * 1024 };
		const store = await NatsStore.open(connection, "store", settings);
		const shortLived = await NatsStore.open(connection, "short", { ...settings, storage: "memory" });
		return { store, shortLived };
	};
	return [await open(), await open()];
}

const CLIENT = { id: "client", name: "Client", redirectUris: ["https://client.example/"] };
const GIVEN = { clientId: "client", redirectUri: undefined, verifier: "verifier", audience: undefined };
const APPROVAL = {
	client: CLIENT,
	redirectUri: "https://client.example/",
	challenge: createHash("sha256").update(GIVEN.verifier).digest("base64url"),
	audience: "https://gateway.example/mcp",
	limits: {},
};

for (const [where, open, skip] of [
	["in files", openFiles, false],
	["in NATS", openNats, whyNoNats],
] as const) {
	describe(`two gateways or processes whose tokens are ${where}`, { skip }, () => {
		async function openTwo(t: TestContext) {
			const key = openDeviceKey(makeStateFolder());
			const both = (await open(t)).map((stores) => {
				const tokens = new TokenStore(stores.store);
				return { ...stores, tokens, grants: makeGrants(tokens, stores.shortLived, key) };
			});
			const [a, b] = both as [(typeof both)[0], (typeof both)[0]];
			const untilSame = async (): Promise<void> => {
				const shown = ({ store, shortLived, tokens }: typeof a): string => {
					tokens.refresh();
					store.refresh("sign-in-code");
					const keys = ["token/", "sign-in/", "sign-in-code"].flatMap((each) => store.list(each));
					return JSON.stringify([...keys, ...shortLived.list("code/")].map(({ key }) => key).sort());
				};
				await until(() => shown(a) === shown(b), "both have the same");
			};
			return { a, b, untilSame };
		}

		const fulfilled = <T>(results: readonly PromiseSettledResult<T>[]): T[] =>
			results.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));

		it("give tokens for a code once, and end the sign-in that its second use betrays", async (t) => {
			const { a, b, untilSame } = await openTwo(t);
			for (let round = 0; round < TRIES; round += 1) {
				const code = await a.grants.approve(`request ${round}`, APPROVAL);
				assert.ok(code);
				await untilSame();
				const results = await Promise.allSettled([a, b].map(({ grants }) => grants.exchange(code, GIVEN)));
				const [answer, ...more] = fulfilled(results);
				assert.ok(answer);
				assert.deepEqual(more, []);
				await untilSame();
				assert.equal(await a.grants.verify(answer.access_token), undefined);
				assert.deepEqual(b.store.list("sign-in/"), []);
			}
		});

		it("know a code and a sign-in as soon as the other one has stored them", async (t) => {
			const { a, b } = await openTwo(t);
			for (let round = 0; round < TRIES; round += 1) {
				const code = (await a.grants.approve(`request ${round}`, APPROVAL)) as string;
				const { refresh_token } = await b.grants.exchange(code, GIVEN);
				await b.grants.revoke((await a.grants.refresh(refresh_token, CLIENT.id, undefined)).access_token, CLIENT.id);
			}
		});

		it("end a sign-in of which the other one has not heard yet", async (t) => {
			for (const end of ["exchange", "revoke"] as const) {
				const { a, b, untilSame } = await openTwo(t);
				const code = (await a.grants.approve("request", APPROVAL)) as string;
				const { access_token: token } = await a.grants.exchange(code, GIVEN);
				await untilSame();
				let isBehind = true;
				t.mock.method(b.tokens, "current", (sha256: string) =>
					isBehind ? undefined : TokenStore.prototype.current.call(b.tokens, sha256),
				);
				t.mock.method(b.tokens, "sync", async () => {
					await TokenStore.prototype.sync.call(b.tokens);
					isBehind = false;
				});
				await (end === "revoke"
					? b.grants.revoke(token, CLIENT.id)
					: assert.rejects(b.grants.exchange(code, GIVEN), { code: "invalid_grant" }));
				await untilSame();
				assert.equal(await a.grants.verify(token), undefined, end);
			}
		});

		it("do not bring a sign-in back that ends while it is refreshed", async (t) => {
			const { a, b, untilSame } = await openTwo(t);
			for (let round = 0; round < TRIES; round += 1) {
				const code = (await a.grants.approve(`request ${round}`, APPROVAL)) as string;
				const answer = await a.grants.exchange(code, GIVEN);
				await untilSame();
				const name = b.tokens.records[0]?.name as string;
				const [refreshed] = await Promise.allSettled([
					a.grants.refresh(answer.refresh_token, CLIENT.id, undefined),
					b.tokens.remove(name),
				]);
				if (refreshed.status === "rejected") {
					assert.equal(refreshed.reason.code, "invalid_grant");
				}
				await untilSame();
				assert.deepEqual(a.store.list("sign-in/"), []);
			}
		});

		it("answer a refresh token that comes to both at once with the same tokens", async (t) => {
			const { a, b, untilSame } = await openTwo(t);
			const code = (await a.grants.approve("request", APPROVAL)) as string;
			let answer = await a.grants.exchange(code, GIVEN);
			for (let round = 0; round < TRIES; round += 1) {
				await untilSame();
				const { refresh_token } = answer;
				const [one, other] = await Promise.all(
					[a, b].map(({ grants }) => grants.refresh(refresh_token, CLIENT.id, undefined)),
				);
				assert.equal(one?.access_token, other?.access_token);
				answer = one as typeof answer;
			}
		});

		it("create one token of a name, and one of a device", async (t) => {
			const { a, b } = await openTwo(t);
			for (let round = 0; round < TRIES; round += 1) {
				const add = async ({ tokens }: typeof a) => await tokens.add({ name: `token-${round}`, kind: "client" });
				assert.equal(fulfilled(await Promise.allSettled([a, b].map(add))).length, 1);
				const bind = async ({ tokens }: typeof a, index: number) =>
					await tokens.bind(`device-${round}`, `secret-${round}-${index}`, "salt");
				assert.deepEqual((await Promise.all([a, b].map(bind))).sort(), [false, true]);
			}
		});

		it("take a code of the command line once", async (t) => {
			const { a, b, untilSame } = await openTwo(t);
			for (let round = 0; round < TRIES; round += 1) {
				const old = await makeSignInCode(b.store);
				await untilSame();
				const code = await makeSignInCode(a.store);
				await untilSame();
				const taken = await Promise.all([a, b].map(({ store }) => takeSignInCode(store, code.toLowerCase())));
				assert.deepEqual(taken.sort(), [false, true]);
				assert.equal(await takeSignInCode(b.store, old), false);
			}
		});
	});
}

/** A store that makes the next change of such a key, and does not say so. */
class UnclearStore extends MemoryStore {
	next = "";

	override async set(key: string, value: unknown, expected?: number): Promise<Entry> {
		const entry = await super.set(key, value, expected);
		if (this.next !== "" && key.startsWith(this.next)) {
			this.next = "";
			throw new StoreError("unknown", "no answer");
		}
		return entry;
	}
}

describe("a store that does not say whether it has made a change", () => {
	async function openUnclear() {
		const store = new UnclearStore();
		const grants = makeGrants(new TokenStore(store), store, openDeviceKey(makeStateFolder()));
		return { store, grants, code: (await grants.approve("request", APPROVAL)) as string };
	}

	it("has a code count as used, and leaves no sign-in", async () => {
		const { store, grants, code } = await openUnclear();
		store.next = "code/";
		await assert.rejects(grants.exchange(code, GIVEN), { code: "unknown" });
		await assert.rejects(grants.exchange(code, GIVEN), { message: /^unknown, used or expired/ });
		assert.deepEqual(store.list("sign-in/"), []);
	});

	it("leaves no sign-in for which no code was used, and the code for another attempt", async () => {
		const { store, grants, code } = await openUnclear();
		store.next = "sign-in/";
		await assert.rejects(grants.exchange(code, GIVEN), { code: "unknown" });
		assert.deepEqual(store.list("sign-in/"), []);
		const { access_token } = await grants.exchange(code, GIVEN);
		assert.notEqual(await grants.verify(access_token), undefined);
	});

	it("answers a refresh that is sent again with the tokens that were stored", async () => {
		const { store, grants, code } = await openUnclear();
		const { refresh_token } = await grants.exchange(code, GIVEN);
		const refresh = async () => await grants.refresh(refresh_token, CLIENT.id, undefined);
		store.next = "sign-in/";
		await assert.rejects(refresh(), { code: "unknown" });
		assert.notEqual(await grants.verify((await refresh()).access_token), undefined);
	});
});
