import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { MemoryStore } from "xs-mcp-manager/core";
import { TokenStore } from "../src/config/token-store.js";
import { openDeviceKey } from "../src/devices/device-key.js";
import { makeWebhookStore, type WebhookRecord } from "../src/events/webhook-store.js";
import { importState } from "../src/store/import-state.js";
import { makeStateFolder } from "../testing/program.js";

const sha256 = (secret: string): string => createHash("sha256").update(secret).digest("hex");

const CREATED = "2026-01-01T00:00:00.000Z";
const EXPIRES = "2999-01-01T00:00:00.000Z";

function makeOldFolder(files: Readonly<Record<string, object | string>>): string {
	const folder = makeStateFolder();
	for (const [name, content] of Object.entries(files)) {
		writeFileSync(
			join(folder, name),
			typeof content === "string" ? content : JSON.stringify({ version: 1, ...content }),
		);
	}
	return folder;
}

describe("a state folder of the version before", () => {
	it("has its tokens, sign-ins and their last uses read once", async () => {
		const grant = {
			client: "id",
			clientName: "Client",
			audience: "https://gateway.example/mcp",
			access: sha256("access"),
			accessExpires: EXPIRES,
			refresh: sha256("refresh"),
		};
		const tokens = [
			{ name: "laptop", kind: "host", created: CREATED, userTools: true, sha256: sha256("laptop") },
			{ name: "device:lamp", kind: "device", created: CREATED, devices: ["lamp"], salt: "00", sha256: sha256("lamp") },
			{ name: "client:c-1", kind: "client", created: CREATED, expires: EXPIRES, grant, sha256: sha256("sign-in") },
		];
		const folder = makeOldFolder({
			"tokens.json": { tokens, removed: [sha256("removed")] },
			"tokens-needed.json": { kinds: ["host", "device"] },
			"tokens-used.json": { uses: { [sha256("laptop")]: 1_800_000_000_000, [sha256("removed")]: 1 } },
			"tokens-shared.json": { hashes: [] },
			"sign-in-code.json": { sha256: sha256("code"), expires: 1 },
		});
		const store = new MemoryStore();
		await importState(folder, store);
		const read = new TokenStore(store);
		const laptop = read.verify("client", "laptop");
		assert.deepEqual([laptop?.kind, laptop?.userTools], ["client", true]);
		assert.equal(laptop && read.lastUse(laptop), 1_800_000_000_000);
		assert.equal(read.verify("device", "lamp"), read.boundTo("lamp"));
		assert.deepEqual(read.signIn("sign-in")?.grant, grant);
		assert.deepEqual([read.needs("client"), read.needs("device"), read.size], [true, true, 3]);
		const left = ["tokens-needed.json.imported", "tokens-used.json.imported", "tokens.json.imported"];
		assert.deepEqual(readdirSync(folder).sort(), left);
		await read.remove("laptop");
		await importState(folder, store);
		assert.equal(read.verify("client", "laptop"), undefined);
	});

	it("has its webhooks read, which go on where they were", async () => {
		const record = {
			id: "sub_1",
			holder: sha256("agent"),
			name: "button.pressed",
			arguments: { pause: 5 },
			url: "https://example.com/hook",
			secret: "whsec_secret",
			cursor: "0123456789ab.7",
			expires: Date.parse(EXPIRES),
		};
		const folder = makeStateFolder();
		mkdirSync(join(folder, "events"));
		writeFileSync(join(folder, "events", "webhooks.json"), JSON.stringify([record]));
		const store = new MemoryStore();
		await importState(folder, store);
		const webhooks = makeWebhookStore(store, openDeviceKey(folder).derive("webhooks"));
		const found: [WebhookRecord, boolean][] = [];
		webhooks.on("record", (...each) => found.push(each));
		webhooks.open();
		assert.deepEqual(found, [[record, true]]);
		assert.ok(!JSON.stringify(store.list("webhook/")).includes("whsec_secret"));
		assert.deepEqual(readdirSync(join(folder, "events")), ["webhooks.json.imported"]);
	});

	it("is not used if a file of it is damaged: the gateway would be open to strangers", async () => {
		for (const [content, message] of [
			["{", /tokens\.json: cannot be read/],
			["{}", /tokens\.json: version: .*expected 1/],
			['{"version":1,"tokens":[{"name":"x"}]}', /tokens\.json: tokens\.0\.kind: /],
		] as const) {
			await assert.rejects(importState(makeOldFolder({ "tokens.json": content }), new MemoryStore()), message);
		}
	});
});
