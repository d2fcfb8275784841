import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import type { AuditEntry } from "../src/history/audit-log.js";
import { startWithToken } from "../testing/console.js";
import { connectClient, LAMP, WireDevice } from "../testing/gateway.js";
import { makeStateFolder, sendJson, startProgram } from "../testing/program.js";

async function readAudit(base: string, query = "", headers: Record<string, string> = {}): Promise<AuditEntry[]> {
	return ((await (await fetch(`${base}/audit${query}`, { headers })).json()) as { entries: AuditEntry[] }).entries;
}

const callsIn = (entries: AuditEntry[]) => entries.flatMap((entry) => ("tool" in entry ? [entry] : []));
const requestsIn = (entries: AuditEntry[]) => entries.flatMap((entry) => ("request" in entry ? [entry] : []));

describe("the audit log", () => {
	it("has each call with its caller, and survives a restart", async (t) => {
		const stateFolder = makeStateFolder();
		const program = await startProgram(t, {}, stateFolder);
		const onCall = () => ({ content: [{ type: "text", text: "true" }] });
		await WireDevice.connect(t, program, { id: LAMP, onCall });
		const client = await connectClient(t, new URL(`${program.base}/mcp/${LAMP}`), "2025-11-25");
		await client.callTool({ name: "self_audio_speaker_set_volume", arguments: { volume: 7 } });
		await client.callTool({ name: "self_audio_speaker_set_volume", arguments: { volume: 1_000 } }).catch(() => {});
		await until(async () => (await readAudit(program.base)).length === 2, "both calls are there");
		await program.gateway.close();
		const { base } = await startProgram(t, {}, stateFolder);
		const [second, first] = callsIn(await readAudit(base));
		assert.deepEqual(
			[first?.principal, first?.client, first?.device, first?.tool, first?.args, first?.outcome],
			["local", "test-client", LAMP, "self.audio_speaker.set_volume", '{"volume":7}', "ok"],
		);
		assert.equal(second?.outcome, "invalid-arguments");
		assert.equal((await readAudit(base, "?limit=1")).length, 1);
		assert.deepEqual(await readAudit(base, "?principal=nobody"), []);
		assert.deepEqual(await readAudit(base, `?device=${LAMP}&to=2020-01-01T00:00:00Z`), []);
		const exported = await fetch(`${base}/audit.jsonl`);
		assert.match(exported.headers.get("content-disposition") ?? "", /attachment/);
		const lines = (await exported.text()).trim().split("\n");
		const found = lines.map((line) => JSON.parse(line));
		assert.deepEqual(found, [first, second]);
		assert.ok((await (await fetch(`${base}/metrics`)).text()).match(/xs_mcp_gateway_audit_bytes [1-9]/));
	});

	it("has changes over HTTP, also those that were rejected, without their content", async (t) => {
		const { base, secret } = await startWithToken(t, { operator: true });
		const headers = { Authorization: `Bearer ${secret}` };
		const made = await sendJson("POST", `${base}/tokens`, { name: "kiosk", kind: "client" }, headers);
		assert.equal(made.status, 201);
		assert.equal((await fetch(`${base}/devices/nothing`, { method: "DELETE", headers })).status, 404);
		await until(async () => (await readAudit(base, "", headers)).length === 2, "both changes are there");
		assert.deepEqual(
			requestsIn(await readAudit(base, "", headers)).map(({ principal, request, status }) => [
				principal,
				request,
				status,
			]),
			[
				["me", "DELETE /devices/nothing", 404],
				["me", "POST /tokens", 201],
			],
		);
	});

	it("has names and tags of a device as they are kept, and no longer ones", async (t) => {
		const program = await startProgram(t);
		await WireDevice.connect(t, program, { id: LAMP });
		const edit = (body: object) => sendJson("PATCH", `${program.base}/devices/${LAMP}`, body);
		assert.equal((await edit({ title: "  Desk  ", tags: ["b", "a", "b"] })).status, 200);
		assert.equal((await edit({ title: " ", alias: "desk" })).status, 200);
		for (const [body, message] of [
			[{ alias: "x".repeat(257) }, "alias: expected string to have <=256 characters"],
			[{ title: " ".repeat(257) }, "title: expected string to have <=256 characters"],
			[{ tags: Array(65).fill("a") }, "tags: expected array to have <=64 items"],
			[{ tags: ["x".repeat(257)] }, "tags.0: expected string to have <=256 characters"],
		] as const) {
			const response = await edit(body);
			assert.deepEqual([response.status, (await response.json()).error.message], [400, message]);
		}
		await until(async () => (await readAudit(program.base)).length === 6, "all changes are there");
		const changes = requestsIn(await readAudit(program.base))
			.map(({ change }) => change)
			.filter(Boolean);
		assert.deepEqual(changes, [
			{ alias: "desk", title: "" },
			{ title: "Desk", tags: ["a", "b"] },
		]);
	});

	it("is for operators, and hides arguments of user-only tools from those who may not call them", async (t) => {
		const { base, secret, gateway, deviceUrl } = await startWithToken(t, { operator: true });
		const device = await WireDevice.connect(t, { gateway, deviceUrl }, { id: LAMP, onCall: () => ({ content: [] }) });
		assert.ok(device);
		const server = gateway.servers.find(LAMP);
		const reboot = server?.tools.find(({ name }) => name === "self.reboot");
		assert.ok(server && reboot);
		await server.call(reboot, { delay: 5 }, { principal: "other" });
		const headers = { Authorization: `Bearer ${secret}` };
		await until(async () => (await readAudit(base, "", headers)).length === 1, "the call is there");
		const [call] = callsIn(await readAudit(base, "", headers));
		assert.deepEqual([call?.tool, call?.args], ["self.reboot", undefined]);
		const plain = await startWithToken(t);
		const answer = await fetch(`${plain.base}/audit.jsonl`, { headers: { Authorization: `Bearer ${plain.secret}` } });
		assert.equal(answer.status, 403);
	});
});
