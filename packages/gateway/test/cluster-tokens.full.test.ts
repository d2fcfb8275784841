import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import type { TokenSummary } from "../src/console/console-routes.js";
import { run } from "../testing/command-line.js";
import { WireDevice } from "../testing/gateway.js";
import { startTwo, untilAt } from "../testing/gateways.js";
import { whyNoNats } from "../testing/nats-server.js";
import { type StartedProgram, sendJson, startProgram } from "../testing/program.js";

async function statusOf({ base }: StartedProgram, token = ""): Promise<number> {
	return (await fetch(`${base}/devices`, { headers: token === "" ? {} : { Authorization: `Bearer ${token}` } })).status;
}

/** Waits until both gateways answer requests with a token like this. */
async function untilStatus(gateways: readonly StartedProgram[], token: string, status: number): Promise<void> {
	for (const gateway of gateways) {
		await until(async () => (await statusOf(gateway, token)) === status, `the token has status ${status}`);
	}
}

describe("a token of a cluster", { skip: whyNoNats }, () => {
	it("is valid at every gateway, and refused by all once it is removed", async (t) => {
		const { a, b } = await startTwo(t);
		const token = await a.tokens.add({ name: "desk", kind: "client" });
		await untilStatus([a, b], token, 200);
		assert.deepEqual([await statusOf(a), await statusOf(b)], [401, 401]);
		await b.tokens.remove("desk");
		await untilStatus([a, b], token, 401);
	});

	it("has the same rights at every gateway after one of two concurrent edits", async (t) => {
		const { a, b } = await startTwo(t);
		const [token, me] = await Promise.all([
			a.tokens.add({ name: "desk", kind: "client", operator: true }),
			a.tokens.add({ name: "me", kind: "client", operator: true }),
		]);
		await untilStatus([a, b], token, 200);
		const headers = { Authorization: `Bearer ${me}` };
		const { tokens } = (await (await fetch(`${b.base}/tokens`, { headers })).json()) as { tokens: TokenSummary[] };
		const { revision } = tokens.find(({ name }) => name === "desk") as TokenSummary;
		const edit = (at: StartedProgram, more: object) =>
			sendJson("PUT", `${at.base}/tokens/desk`, { kind: "client", revision, ...more }, headers);
		const edits = await Promise.all([edit(a, { readOnly: true }), edit(b, { userTools: true })]);
		assert.deepEqual(edits.map(({ status }) => status).sort(), [204, 409]);
		const recordAt = async ({ base }: StartedProgram) => {
			const list = (await (await fetch(`${base}/tokens`, { headers })).json()) as { tokens: TokenSummary[] };
			const { lastUsed: _, ...record } = list.tokens.find(({ name }) => name === "desk") as TokenSummary;
			return record;
		};
		await until(async () => (await recordAt(a)).revision === (await recordAt(b)).revision, "both know the edit");
		const record = await recordAt(a);
		assert.ok(record.revision > revision);
		assert.deepEqual(record, await recordAt(b));
		assert.deepEqual(
			[record.operator, record.readOnly, record.userTools],
			edits[0]?.status === 204 ? [undefined, true, undefined] : [undefined, undefined, true],
		);
		for (const { base } of [a, b]) {
			const { status } = await fetch(`${base}/tokens`, { headers: { Authorization: `Bearer ${token}` } });
			assert.equal(status, 403);
		}
	});

	it("is removed elsewhere: its device is disconnected", async (t) => {
		const { a, b } = await startTwo(t);
		const token = await a.tokens.add({ name: "lamp", kind: "device" });
		const device = await WireDevice.connect(t, b, { token });
		await untilAt(a, "b");
		await a.tokens.remove("lamp");
		await device.disconnected();
	});

	it("is neither added nor removed without NATS, which is said; those that were read stay valid", async (t) => {
		const { nats, a } = await startTwo(t);
		const token = await a.tokens.add({ name: "me", kind: "client", operator: true });
		await untilStatus([a], token, 200);
		await nats.kill();
		await until(() => a.log().includes("the connection to NATS is lost"), "a has noticed");
		const headers = { Authorization: `Bearer ${token}` };
		const change = (method: string, path: string, json?: object) => sendJson(method, a.base + path, json, headers);
		const desk = { name: "desk", kind: "client" };
		const edit = { kind: "client", operator: true, revision: 1 };
		for (const refused of [
			await change("POST", "/tokens", desk),
			await change("PUT", "/tokens/me", edit),
			await change("DELETE", "/tokens/me"),
		]) {
			assert.equal(refused.status, 503);
			assert.match((await refused.json()).error.message, /the cluster's store is unreachable/);
		}
		assert.equal(await statusOf(a, token), 200);
		await nats.run();
		await until(async () => (await change("POST", "/tokens", desk)).status === 201, "it is added");
	});

	it("is there for a gateway that is new, which then may listen for other machines", async (t) => {
		const { nats, a } = await startTwo(t);
		const exposed = { cluster: nats.url, clusterName: "c", allowedHosts: "gateway.example" };
		await assert.rejects(startProgram(t, exposed), /no token for clients/);
		const token = await a.tokens.add({ name: "desk", kind: "client" });
		assert.equal(await statusOf(await startProgram(t, exposed), token), 200);
	});

	it("was last used when any gateway says", async (t) => {
		const { a, b } = await startTwo(t);
		const [desk, other] = await Promise.all(
			["desk", "other"].map((name) => a.tokens.add({ name, kind: "client", operator: true })),
		);
		const lastUseAt = async ({ base }: StartedProgram): Promise<number | undefined> => {
			const response = await fetch(`${base}/tokens`, { headers: { Authorization: `Bearer ${other}` } });
			const { tokens } = (await response.json()) as { tokens: { name: string; lastUsed?: number }[] };
			return tokens.find(({ name }) => name === "desk")?.lastUsed;
		};
		await untilStatus([a], other as string, 200);
		assert.equal(await lastUseAt(a), undefined);
		await untilStatus([b], desk as string, 200);
		await until(async () => (await lastUseAt(a)) !== undefined, "a knows of the use at b");
	});

	it("was the last one: a gateway that is new needs a token nevertheless", async (t) => {
		const { nats, a } = await startTwo(t);
		await a.tokens.add({ name: "desk", kind: "client" });
		await a.tokens.remove("desk");
		await assert.rejects(startProgram(t, { cluster: nats.url, clusterName: "c" }), /there was one before/);
	});

	it("is managed by the command line, which needs NATS", async (t) => {
		const { nats, a, b } = await startTwo(t);
		const token = (...args: string[]) => run(t, ["token", ...args, "--cluster", nats.url]);
		const added = await token("add", "desk", "--for", "client");
		assert.equal(added.code, 0, added.stderr);
		await untilStatus([a, b], added.stdout.trim(), 200);
		assert.match((await token("list")).stdout, /^desk {2}client /m);
		assert.equal((await token("remove", "desk")).code, 0);
		await untilStatus([a, b], added.stdout.trim(), 401);
		await nats.kill();
		const refused = await token("add", "late", "--for", "client");
		assert.notEqual(refused.code, 0);
		assert.match(refused.stderr, /cluster: nats:.*/);
	});
});
