import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { type Connection, MemoryStore, type Server } from "xs-mcp-manager/core";
import { until } from "../../../host-test/support/testing.js";
import { CLAIM, Claims } from "../src/cluster/claims.js";
import type { Claim } from "../src/cluster/messages.js";

const LAMP = "aa:bb:cc:00:00:01";

/** The claims of a gateway, the devices that it has lost, and one that is here. */
function openClaims(t: TestContext, store: MemoryStore, gateway: string) {
	const lost: string[] = [];
	const claims = new Claims({ name: gateway, incarnation: `${gateway}1` }, store, assert.fail);
	t.after(claims.start());
	const server = { id: LAMP, online: true } as Server;
	const session = {
		identity: { id: LAMP, clientId: "", transport: "websocket" },
		capabilities: {},
		close: (reason: string) => void lost.push(reason.replace(/^.* gateway /, "")),
	} as unknown as Connection;
	return { claims, lost, server, session, begin: () => claims.begin(server, session) };
}

const ownerIn = (store: MemoryStore): string | undefined =>
	(store.get(CLAIM + LAMP)?.value as Claim | undefined)?.gateway;

describe("the claim of a device", () => {
	it("is that of the gateway which it has connected to last; the one before ends its session", async (t) => {
		const store = new MemoryStore();
		const [a, b] = [openClaims(t, store, "a"), openClaims(t, store, "b")];
		a.begin();
		await until(() => ownerIn(store) === "a", "a has it");
		b.begin();
		await until(() => ownerIn(store) === "b", "b has it");
		await until(() => a.lost.length === 1, "a has lost it");
		assert.deepEqual([a.lost, b.lost, a.claims.claimOf(LAMP)], [["b"], [], undefined]);
		a.claims.end(a.session);
		await a.claims.flush();
		assert.equal(ownerIn(store), "b");
		b.claims.end(b.session);
		await until(() => ownerIn(store) === undefined, "it is removed");
	});

	it("is stored again with its name if the store has lost it, and says what state the device has", async (t) => {
		const store = new MemoryStore();
		const { claims, server, begin } = openClaims(t, store, "a");
		begin();
		const name = claims.claimOf(LAMP) ?? assert.fail();
		await until(() => ownerIn(store) === "a", "a has it");
		await store.delete(CLAIM + LAMP);
		await until(() => ownerIn(store) === "a", "a has it again");
		server.state = "speaking";
		await until(async () => {
			await claims.flush();
			const found = store.get(CLAIM + LAMP)?.value as Claim | undefined;
			return found?.claim === name && found.state === "speaking";
		}, "its state is stored");
		assert.equal(claims.serverOf(LAMP, name), server);
	});
});
