import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { temporaryFolder } from "../../../host-test/support/temporary-folder.js";
import { TokenUses } from "../../src/config/token-uses.js";

const TOKEN = { sha256: "11".repeat(32) };

describe("the last use of a token", () => {
	it("is shared once a minute, however often the token is used", async (t) => {
		t.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
		const uses = new TokenUses(temporaryFolder("xs-mcp-uses-"));
		const shared: number[] = [];
		uses.share(async (_hash, time) => void shared.push(time));
		for (let second = 0; second < 150; second += 1) {
			t.mock.timers.tick(1_000);
			uses.used(TOKEN);
			await uses.saveIfDue([TOKEN]);
		}
		assert.deepEqual(shared, [1_060_000, 1_120_000]);
	});

	it("is the latest that was used here or elsewhere, and is stored", async () => {
		const folder = temporaryFolder("xs-mcp-uses-");
		const uses = new TokenUses(folder);
		uses.learn(TOKEN.sha256, 5_000);
		uses.learn(TOKEN.sha256, 4_000);
		assert.equal(uses.lastUse(TOKEN), 5_000);
		await uses.save([TOKEN]);
		assert.equal(new TokenUses(folder).lastUse(TOKEN), 5_000);
	});

	it("is not shared again by a gateway that has learned it", async () => {
		const uses = new TokenUses(temporaryFolder("xs-mcp-uses-"));
		const shared: string[] = [];
		uses.share(async (hash) => void shared.push(hash));
		uses.used(TOKEN);
		uses.learn(TOKEN.sha256, Date.now() + 1_000);
		await uses.save([TOKEN]);
		assert.deepEqual(shared, []);
	});

	it("is shared later if it cannot be now", async () => {
		const uses = new TokenUses(temporaryFolder("xs-mcp-uses-"));
		uses.share(async () => {
			throw new Error("no connection");
		});
		uses.used(TOKEN);
		await uses.save([TOKEN]);
		const shared: string[] = [];
		uses.share(async (hash) => void shared.push(hash));
		await uses.save([TOKEN]);
		assert.deepEqual(shared, [TOKEN.sha256]);
	});
});
