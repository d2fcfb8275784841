import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import type { WebSocket } from "ws";
import type { HeapReport } from "xs-mcp-virtual-device";
import { makeChip, whyNotXs } from "../../host-test/node/chip.js";
import { type Hostile, KNOWN, makeHostile, makeRandom } from "../../host-test/node/hostile-messages.js";
import { listenForSockets, skipIf } from "../../host-test/support/testing.js";

// The whole firmware with a chip's heap, and messages that are meant to exhaust it. XS_MCP_HOSTILE sets how many
// messages there are: `npm run soak` sends 60,000.

const MESSAGES = Number(process.env.XS_MCP_HOSTILE ?? 1_000);
/** So many are sent before a ping has to be answered. */
const BATCH = 50;
/** The first ones fill what is kept by rule: texts on the screen, glyphs, the names of unknown types. */
const WARM_UP = 500;
/** Slots by which two counts may differ: timers hold up to 140 at times. Kept names would add up to 100 a message. */
const MAX_GROWTH = 200;
const SEED = 20_261_121;

function send(socket: WebSocket, message: Hostile): void {
	if (typeof message === "string" || message instanceof Buffer) {
		socket.send(message, { binary: false });
		return;
	}
	for (const [at, fragment] of message.entries()) {
		socket.send(fragment, { binary: false, fin: at === message.length - 1 });
	}
}

async function connect(t: TestContext) {
	const { server, url } = await listenForSockets(t);
	const chip = await makeChip(url);
	t.after(() => chip.stop());
	const ends: string[] = [];
	chip.on("exit", ({ code, detail }) => ends.push(`${code}: ${detail}`));
	const connected = once(server, "connection");
	await chip.start();
	const [socket] = (await connected) as [WebSocket];
	socket.on("close", () => ends.push("the device ended its session"));
	await once(socket, "message");
	send(socket, '{"type":"hello","transport":"websocket","session_id":"s"}');
	return { chip, socket, ends };
}

async function ask(socket: WebSocket, id: string, method: string): Promise<{ result?: unknown }> {
	const answer = new Promise<{ result?: unknown }>((resolve, reject) => {
		const hear = (data: Buffer): void => {
			const { payload } = JSON.parse(data.toString());
			if (payload?.id === id) {
				socket.off("message", hear).off("close", fail);
				resolve(payload);
			}
		};
		const fail = (): void => reject(new Error(`no answer to ${id}: the connection is closed`));
		socket.on("message", hear).on("close", fail);
	});
	const payload = JSON.stringify({ jsonrpc: "2.0", id, method, params: {} });
	send(socket, `{"session_id":"s","type":"mcp","payload":${payload}}`);
	return await answer;
}

describe("a chip under attack", { skip: skipIf(whyNotXs) }, () => {
	it("answers each request that is too large by its id", async (t) => {
		const { socket, ends } = await connect(t);
		const errors: unknown[] = [];
		socket.on("message", (data: Buffer) => {
			const { payload } = JSON.parse(data.toString());
			if (payload?.id === 1) {
				errors.push([payload.error.code, payload.error.message]);
			}
		});
		for (const message of KNOWN) {
			send(socket, message);
		}
		await ask(socket, "last", "ping");
		assert.deepEqual(errors, [
			[-32600, "Invalid request: 2810 values (limit 546)"],
			[-32600, "Invalid request: 4011 values (limit 546)"],
			[-32600, "Invalid request: 24174 bytes (limit 8192)"],
			[-32600, "Invalid request: 70164 bytes (limit 8192)"],
		]);
		assert.deepEqual(ends, []);
	});

	it(`survives ${MESSAGES} hostile messages, and still serves`, async (t) => {
		const { chip, socket, ends } = await connect(t);
		const random = makeRandom(SEED);
		await ask(socket, "warm", "tools/list");
		let before: HeapReport | undefined;
		for (let sent = 0; sent < WARM_UP + MESSAGES; sent += BATCH) {
			if (sent === WARM_UP) {
				before = (await chip.heap()) as HeapReport;
			}
			for (let at = 0; at < BATCH; at += 1) {
				send(socket, makeHostile(random));
			}
			const { result } = await ask(socket, `ping ${sent}`, "ping").catch((error) =>
				assert.fail(`${error.message}; ${ends.join()}`),
			);
			assert.deepEqual(result, {});
		}
		const { tools } = (await ask(socket, "list", "tools/list")).result as { tools: object[] };
		const after = (await chip.heap()) as HeapReport;
		assert.ok(before !== undefined);
		t.diagnostic(`slots ${before.slots} -> ${after.slots}, chunks ${before.chunkBytes} -> ${after.chunkBytes}`);
		t.diagnostic(`most used: ${after.peakSlots} slots, ${after.peakChunkBytes} chunk bytes`);
		assert.ok(tools.length > 0);
		assert.deepEqual(ends, []);
		assert.ok(after.slots <= before.slots + MAX_GROWTH, `${before.slots} slots became ${after.slots}`);
	});
});
