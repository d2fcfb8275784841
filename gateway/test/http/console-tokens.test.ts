import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { signIn, startWithToken, statusOf } from "../support/console.js";

describe("the tokens in the console", () => {
	const asOperator = async (t: TestContext) => {
		const gateway = await startWithToken(t, { operator: true });
		const { headers } = await signIn(gateway, gateway.secret);
		const send = (method: string, path: string, json?: object) =>
			fetch(`${gateway.base}${path}`, {
				method,
				headers: { ...headers, Origin: gateway.base, "Content-Type": "application/json" },
				...(json && { body: JSON.stringify(json) }),
			});
		return { ...gateway, headers, send };
	};

	it("are created, shown once, listed without their secret, and revoked", async (t) => {
		const { base, send } = await asOperator(t);
		const created = await send("POST", "/tokens", { name: "kiosk", kind: "client", devices: ["aa:bb"] });
		const { token } = await created.json();
		assert.equal(created.status, 201);
		const headers = { Authorization: `Bearer ${token}` };
		assert.equal(await statusOf(`${base}/devices`, { headers }), 200);
		const list = await (await send("GET", "/tokens")).json();
		const kiosk = list.tokens.find(({ name }: { name: string }) => name === "kiosk");
		assert.deepEqual([kiosk.kind, kiosk.devices, typeof kiosk.lastUsed], ["client", ["aa:bb"], "number"]);
		assert.doesNotMatch(JSON.stringify(list), /xsmcp_|sha256|salt/);
		assert.equal((await send("DELETE", "/tokens/kiosk")).status, 204);
		assert.equal(await statusOf(`${base}/devices`, { headers }), 401);
	});

	it("cannot be changed with a token that is not an operator's", async (t) => {
		const gateway = await startWithToken(t, { userTools: true });
		const Authorization = `Bearer ${gateway.secret}`;
		for (const method of ["GET", "POST"]) {
			assert.equal(await statusOf(`${gateway.base}/tokens`, { method, headers: { Authorization } }), 403);
		}
		const remove = { method: "DELETE", headers: { Authorization } };
		assert.equal(await statusOf(`${gateway.base}/tokens/me`, remove), 403);
		assert.equal(await statusOf(`${gateway.base}/servers/x/restart`, { ...remove, method: "POST" }), 403);
	});

	it("have to make sense", async (t) => {
		const { send } = await asOperator(t);
		for (const wrong of [
			{},
			{ name: "a b", kind: "client" },
			{ name: "me", kind: "client" },
			{ name: "x", kind: "device", userTools: true },
			{ name: "x", kind: "client", operator: true, devices: ["a"] },
			{ name: "x", kind: "client", expires: "tomorrow" },
		]) {
			assert.equal((await send("POST", "/tokens", wrong)).status, 400, JSON.stringify(wrong));
		}
		assert.equal((await send("DELETE", "/tokens/nobody")).status, 400);
	});
});
