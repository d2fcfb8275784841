import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import { activate, BOARD, bootstrap, replyOf } from "../testing/bootstrap.js";
import { ask } from "../testing/command-line.js";
import { type StartedProgram, startProgram } from "../testing/program.js";

const STRANGER = { id: BOARD.id, clientId: "another-uuid" };

async function pending({ base }: StartedProgram) {
	return (await replyOf(fetch(`${base}/bindings`))).body.pending;
}

async function statusOf({ url, token }: { url: string; token: string }): Promise<number | undefined> {
	const socket = new WebSocket(url, { headers: { "device-id": BOARD.id, authorization: `Bearer ${token}` } });
	socket.on("error", () => {});
	const answered = ["upgrade", "unexpected-response"].map((event) => once(socket, event));
	const [first, second] = (await Promise.race(answered)) as IncomingMessage[];
	socket.terminate();
	return (second ?? first)?.statusCode;
}

describe("binding a device with a code", () => {
	it("gives the device a code, and a token that is valid once the operator approves it", async (t) => {
		const started = await startProgram(t, { bootstrap: "approve", mqtt: true });
		const { status, body } = await bootstrap(started, BOARD);
		assert.equal(status, 200);
		const { code, message, challenge } = body.activation;
		assert.match(code, /^[0-9]{6}$/);
		assert.match(message, new RegExp(`xs-mcp-gateway devices approve ${code}`));
		assert.match(challenge, /^[0-9a-f-]{36}$/);
		assert.equal(body.firmware, undefined);
		assert.equal(await statusOf(body.websocket), 401);
		assert.equal(await activate(started, BOARD), 202);
		assert.equal((await bootstrap(started, BOARD)).body.activation.code, code);
		const response = await replyOf(fetch(`${started.base}/bindings/${code}`, { method: "POST" }));
		assert.deepEqual(response, { status: 200, body: { device: BOARD.id } });
		assert.equal(await activate(started, BOARD), 200);
		const bound = (await bootstrap(started, BOARD)).body;
		assert.equal(bound.activation, undefined);
		assert.deepEqual([bound.websocket, bound.mqtt], [body.websocket, body.mqtt]);
		assert.equal(await statusOf(bound.websocket), 101);
		assert.match(bound.websocket.token, /^xsmcp_/);
		assert.equal(bound.mqtt.password, bound.websocket.token);
		assert.deepEqual(await pending(started), []);
	});

	it("does not take another device with the same id for the one that is bound", async (t) => {
		const started = await startProgram(t, { bootstrap: "approve" });
		const { code } = (await bootstrap(started, BOARD)).body.activation;
		assert.notEqual((await bootstrap(started, STRANGER)).body.activation.code, code);
		await fetch(`${started.base}/bindings/${code}`, { method: "POST" });
		assert.equal(await activate(started, STRANGER), 202);
		assert.equal(await statusOf((await bootstrap(started, STRANGER)).body.websocket), 401);
		assert.match((await bootstrap(started, BOARD)).body.websocket.token, /^xsmcp_/);
	});

	it("lists the devices that wait, and forgets the ones that the operator rejects", async (t) => {
		const started = await startProgram(t, { bootstrap: "approve" });
		const { code } = (await bootstrap(started, BOARD)).body.activation;
		const [{ expires, ...waiting }] = await pending(started);
		const board = { board: "bread-compact-wifi", version: "1.8.2" };
		assert.deepEqual(waiting, { code, device: BOARD.id, ...board, address: "127.0.0.1" });
		const minutes = (Date.parse(expires) - Date.now()) / 60_000;
		assert.ok(minutes > 9 && minutes <= 10);
		const remove = () => fetch(`${started.base}/bindings/${code}`, { method: "DELETE" });
		assert.deepEqual([(await remove()).status, (await remove()).status], [204, 404]);
		assert.equal(await activate(started, BOARD), 404);
		assert.deepEqual(await pending(started), []);
	});

	it("has a bound for the devices of one address, and says so", async (t) => {
		const started = await startProgram(t, { bootstrap: "approve" });
		let last = { status: 200, body: {} as { message?: string } };
		for (let count = 0; count < 17; count += 1) {
			last = await bootstrap(started, { ...BOARD, clientId: `uuid-${count}` });
		}
		assert.deepEqual([last.status, (await pending(started)).length], [503, 16]);
		assert.match(last.body.message ?? "", /wait/);
	});

	it("is for operators", async (t) => {
		const started = await startProgram(t, { bootstrap: "approve" });
		const all = await started.tokens.add({ name: "all", kind: "client" });
		const operator = await started.tokens.add({ name: "me", kind: "client", operator: true });
		const one = await started.tokens.add({ name: "one", kind: "client", devices: [BOARD.id] });
		const { code } = (await bootstrap(started, BOARD)).body.activation;
		const post = async (token: string) => {
			const headers = { authorization: `Bearer ${token}` };
			return (await fetch(`${started.base}/bindings/${code}`, { method: "POST", headers })).status;
		};
		assert.deepEqual([await post("wrong"), await post(one), await post(all)], [401, 403, 403]);
		assert.equal(await post(operator), 200);
	});

	it("is done on the command line", async (t) => {
		const started = await startProgram(t, { bootstrap: "approve" });
		const command = ask(started);
		assert.match((await command(t, "devices", "pending")).stdout, /No devices await approval/);
		const { code } = (await bootstrap(started, BOARD)).body.activation;
		assert.match(
			(await command(t, "devices", "pending")).stdout,
			new RegExp(`${code} +${BOARD.id} +bread-compact-wifi 1.8.2`),
		);
		const wrong = await command(t, "devices", "approve", code === "000000" ? "000001" : "000000");
		assert.equal(wrong.code, 1);
		assert.match(wrong.stderr, /unknown or expired code/);
		const { code: exit, stdout } = await command(t, "devices", "approve", code);
		assert.deepEqual([exit, stdout], [0, `${BOARD.id} bound.\n`]);
		assert.equal(await activate(started, BOARD), 200);
		await bootstrap(started, STRANGER);
		const [{ code: other }] = await pending(started);
		assert.match((await command(t, "devices", "reject", other)).stdout, /rejected/);
		assert.deepEqual(await pending(started), []);
	});
});
