import assert from "node:assert/strict";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { KV } from "@nats-io/kv";
import { until } from "../../../host-test/support/until.js";
import { SharedClock } from "../../src/cluster/shared-clock.js";
import { SharedTokens } from "../../src/cluster/shared-tokens.js";
import { type TokenRecord, TokenStore } from "../../src/config/token-store.js";
import { WireDevice } from "../support/gateway.js";
import { makeStateFolder, type StartedProgram, startProgram } from "../support/program.js";
import { startTwo, untilAt } from "./support/gateways.js";
import { NatsServer, whyNoNats } from "./support/nats-server.js";

async function statusOf({ base }: StartedProgram, token = ""): Promise<number> {
	return (await fetch(`${base}/devices`, { headers: token === "" ? {} : { Authorization: `Bearer ${token}` } })).status;
}

/** Waits until a gateway has the tokens with these names. Requests with wrong ones would be limited. */
async function untilTokens({ tokens }: StartedProgram, ...names: string[]): Promise<void> {
	await until(() => {
		tokens.refresh();
		return (
			tokens.records
				.map(({ name }) => name)
				.sort()
				.join() === names.sort().join()
		);
	}, `the tokens are ${names.join()}`);
}

describe("a token of a cluster", { skip: whyNoNats }, () => {
	it("is valid at every gateway, whichever made it, and refused by all once it is removed", async (t) => {
		const { a, b } = await startTwo(t);
		const token = await a.tokens.add({ name: "desk", kind: "client" });
		await untilTokens(b, "desk");
		assert.deepEqual([await statusOf(b, token), await statusOf(b)], [200, 401]);
		await b.tokens.remove("desk");
		await untilTokens(a);
		assert.deepEqual([await statusOf(a, token), await statusOf(b, token)], [401, 401]);
	});

	it("is removed elsewhere: its device is disconnected", async (t) => {
		const { a, b } = await startTwo(t);
		const token = await a.tokens.add({ name: "lamp", kind: "device" });
		await untilTokens(b, "lamp");
		const device = await WireDevice.connect(t, b, { token });
		await untilAt(a, "b");
		await a.tokens.remove("lamp");
		await device.disconnected();
	});

	it("is added and removed without NATS: the others follow once NATS is back", async (t) => {
		const { nats, a, b } = await startTwo(t);
		const kept = await a.tokens.add({ name: "kept", kind: "client" });
		const old = await a.tokens.add({ name: "old", kind: "client" });
		await untilTokens(b, "kept", "old");
		await nats.kill();
		const added = await b.tokens.add({ name: "new", kind: "client" });
		await b.tokens.remove("old");
		const statuses = (gateway: StartedProgram) =>
			Promise.all([kept, old, added].map((token) => statusOf(gateway, token)));
		assert.deepEqual(await statuses(a), [200, 200, 401]);
		assert.deepEqual(await statuses(b), [200, 401, 200]);
		await nats.run();
		await untilTokens(a, "kept", "new");
		assert.deepEqual(await statuses(a), [200, 401, 200]);
		assert.deepEqual(await statuses(b), [200, 401, 200]);
	});

	it("stays removed when a gateway returns with an old copy, or has removed it while it was away", async (t) => {
		const { nats, a, b } = await startTwo(t);
		const names = ["removed-at-a", "removed-at-b", "kept"];
		for (const name of names) {
			await a.tokens.add({ name, kind: "client" });
		}
		await untilTokens(b, ...names);
		await b.program.close();
		await a.tokens.remove("removed-at-a");
		await b.tokens.remove("removed-at-b");
		await startProgram(t, { cluster: nats.url, clusterName: "b" }, b.stateFolder);
		await untilTokens(b, "kept");
		await untilTokens(a, "kept");
	});

	it("comes to a gateway that has none, which then may listen for other machines", async (t) => {
		const { nats, a, b } = await startTwo(t);
		const exposed = { cluster: nats.url, clusterName: "c", allowedHosts: "gateway.example" };
		await assert.rejects(startProgram(t, exposed), /no token for clients/);
		const token = await a.tokens.add({ name: "desk", kind: "client" });
		await untilTokens(b, "desk");
		assert.equal(await statusOf(await startProgram(t, exposed), token), 200);
	});

	it("stays removed if that was done while its gateway was down, which was killed when it had stored only the token", async (t) => {
		const { nats, a, b } = await startTwo(t);
		const token = await a.tokens.add({ name: "desk", kind: "client" });
		await a.tokens.add({ name: "lamp", kind: "client" });
		await untilTokens(b, "desk", "lamp");
		await b.program.close();
		for (const name of readdirSync(b.stateFolder).filter((each) => /^tokens-/.test(each))) {
			rmSync(join(b.stateFolder, name));
		}
		await new TokenStore(b.stateFolder).remove("desk");
		await startProgram(t, { cluster: nats.url, clusterName: "b" }, b.stateFolder);
		await untilTokens(a, "lamp");
		assert.equal(await statusOf(a, token), 401);
	});

	it("stays removed if version 0.2 has removed it, and is kept if its file was lost since", async (t) => {
		const { nats, a, b } = await startTwo(t);
		await a.tokens.add({ name: "desk", kind: "client" });
		await a.tokens.add({ name: "lamp", kind: "client" });
		await untilTokens(b, "desk", "lamp");
		const [desk, lamp] = a.tokens.records as [TokenRecord, TokenRecord];
		const restart = async (tokens: readonly TokenRecord[] | undefined): Promise<StartedProgram> => {
			const path = join(b.stateFolder, "tokens.json");
			rmSync(path);
			if (tokens !== undefined) {
				writeFileSync(path, JSON.stringify({ version: 1, tokens }));
			}
			const hashes = [desk, lamp].map(({ sha256 }) => sha256);
			writeFileSync(join(b.stateFolder, "tokens-shared.json"), JSON.stringify({ version: 1, hashes }));
			return await startProgram(t, { cluster: nats.url, clusterName: "b" }, b.stateFolder);
		};
		await b.program.close();
		const again = await restart([lamp]);
		await untilTokens(a, "lamp");
		await again.program.close();
		await untilTokens(await restart(undefined), "lamp");
		assert.deepEqual(a.tokens.records, [lamp]);
	});

	it("is not removed from the others by a gateway that has lost its file", async (t) => {
		const { nats, a, b } = await startTwo(t);
		const token = await a.tokens.add({ name: "desk", kind: "client" });
		await untilTokens(b, "desk");
		await b.program.close();
		rmSync(join(b.stateFolder, "tokens.json"));
		const again = await startProgram(t, { cluster: nats.url, clusterName: "b" }, b.stateFolder);
		assert.deepEqual([await statusOf(again, token), await statusOf(a, token)], [200, 200]);
	});

	it("was last used when any gateway says, also at one that joins later", async (t) => {
		const { nats, a, b } = await startTwo(t);
		const token = await a.tokens.add({ name: "desk", kind: "client", operator: true });
		await untilTokens(b, "desk");
		const lastUseAt = async ({ base }: StartedProgram, other = token): Promise<number | undefined> => {
			const response = await fetch(`${base}/tokens`, { headers: { Authorization: `Bearer ${other}` } });
			const { tokens } = (await response.json()) as { tokens: { name: string; lastUsed?: number }[] };
			return tokens.find(({ name }) => name === "desk")?.lastUsed;
		};
		const other = await a.tokens.add({ name: "other", kind: "client", operator: true });
		await untilTokens(b, "desk", "other");
		assert.equal(await lastUseAt(a, other), undefined);
		const used = await lastUseAt(b);
		assert.ok(used);
		await b.program.close();
		await until(async () => (await lastUseAt(a, other)) === used, "a knows of the use at b");
		const c = await startProgram(t, { cluster: nats.url, clusterName: "c" });
		await until(async () => (await lastUseAt(c, other)) === used, "c knows of the use at b");
	});

	it("was the last one: a gateway that is new needs a token nevertheless", async (t) => {
		const { nats, a, b } = await startTwo(t);
		await a.tokens.add({ name: "desk", kind: "client" });
		await untilTokens(b, "desk");
		await a.tokens.remove("desk");
		await untilTokens(b);
		await assert.rejects(startProgram(t, { cluster: nats.url, clusterName: "c" }), /there was one before/);
	});
});

/** A bucket whose entries are created in another way. */
const creating = (bucket: KV, create: (key: string, value: string) => Promise<number>): KV =>
	new Proxy(bucket, {
		get: (_target, name) => (name === "create" ? create : Reflect.get(bucket, name).bind(bucket)),
	});

/** A connection that is not lost. */
const connected = new AbortController().signal;

describe("the tokens that a gateway shares", { skip: whyNoNats }, () => {
	/** Opens a bucket, and a store that shares its tokens by it. */
	async function open(t: TestContext) {
		const bucket = await (await (await NatsServer.start(t)).openBuckets(t)).create("tokens");
		const openStore = () => {
			const folder = makeStateFolder();
			const tokens = new TokenStore(folder);
			const warnings: string[] = [];
			const warn = (message: string): void => void warnings.push(message);
			return { tokens, warnings, shared: new SharedTokens({ tokens, folder, clock: new SharedClock(warn), warn }) };
		};
		return { bucket, openStore };
	}

	it("stay removed, if NATS has stored one whose confirmation did not arrive", async (t) => {
		const { bucket, openStore } = await open(t);
		const { tokens, shared } = openStore();
		const unconfirmed = creating(bucket, async (key, value) => {
			await bucket.create(key, value).catch(() => {});
			throw new Error("timeout");
		});
		await shared.enter(unconfirmed, connected);
		const token = await tokens.add({ name: "desk", kind: "client" });
		shared.leave();
		await tokens.remove("desk");
		await shared.enter(bucket, connected);
		assert.equal(tokens.verify("client", token), undefined);
		assert.deepEqual(tokens.records, []);
	});

	it("stay, if NATS tells of one before this gateway has stored it", async (t) => {
		const { bucket, openStore } = await open(t);
		const { tokens, shared } = openStore();
		const early = creating(bucket, async (key, value) => {
			const revision = await bucket.create(key, value);
			shared.received(key, Buffer.from(value), revision);
			// Messages that the gateway sends now are at NATS before this is answered.
			await bucket.get(key);
			return revision;
		});
		await tokens.add({ name: "lamp", kind: "client" });
		await shared.enter(early, connected);
		const token = await tokens.add({ name: "desk", kind: "client" });
		await shared.catchUp();
		assert.ok(tokens.verify("client", token) !== undefined);
	});

	it("are not removed by a gateway that cannot store them", async (t) => {
		const { bucket, openStore } = await open(t);
		const [first, second] = [openStore(), openStore()];
		await first.shared.enter(bucket, connected);
		const token = await first.tokens.add({ name: "desk", kind: "client" });
		await second.tokens.add({ name: "lamp", kind: "client" });
		const adopt = second.tokens.adopt.bind(second.tokens);
		second.tokens.adopt = async (change) => {
			change(second.tokens.records);
			throw new Error("the disk is full");
		};
		await second.shared.enter(bucket, connected);
		assert.equal(second.warnings.length, 1);
		second.tokens.adopt = adopt;
		await second.shared.flush();
		await first.shared.enter(bucket, connected);
		for (const { tokens } of [first, second]) {
			assert.ok(tokens.verify("client", token) !== undefined);
		}
	});
});

describe("a sign-in that a gateway ends", { skip: whyNoNats }, () => {
	/** A gateway's tokens, and a sign-in. */
	async function openTokens(t: TestContext, wrap: (bucket: KV, shared: () => SharedTokens) => KV = (bucket) => bucket) {
		const kvm = await (await NatsServer.start(t)).openBuckets(t);
		const folder = makeStateFolder();
		const tokens = new TokenStore(folder);
		const shared = new SharedTokens({ tokens, folder, clock: new SharedClock(assert.fail), warn: assert.fail });
		await shared.enter(
			wrap(await kvm.create("tokens"), () => shared),
			connected,
		);
		const later = new Date(Date.now() + 60_000).toISOString();
		const [access, refresh, sha256] = ["a", "b", "c"].map((digit) => digit.repeat(64)) as [string, string, string];
		const grant = { client: "id", clientName: "Client", audience: "/mcp", access, accessExpires: later, refresh };
		return { tokens, shared, sha256, record: { name: "client:client-1", grant, expires: later, sha256 } };
	}

	it("is removed there, too, though another gateway's record of it has just arrived", async (t) => {
		const { tokens, shared, sha256, record } = await openTokens(t);
		await tokens.addGrant(record);
		await shared.forbid(sha256, "client");
		assert.deepEqual(tokens.records, []);
	});

	it("is removed, too, where NATS tells of that before it has confirmed the record", async (t) => {
		const withRemoval = (bucket: KV, shared: () => SharedTokens): KV =>
			creating(bucket, async (key, value) => {
				const created = await bucket.create(key, value);
				const removal = JSON.stringify({ v: 1, removed: "client" });
				shared().received(key, Buffer.from(removal), await bucket.put(key, removal));
				return created;
			});
		const { tokens, shared, record } = await openTokens(t, withRemoval);
		await tokens.addGrant(record);
		await shared.catchUp();
		assert.deepEqual(tokens.records, []);
	});
});
