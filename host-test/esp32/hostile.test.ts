// Messages that are meant to exhaust emulated chips, in frames that are cut anywhere. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { it, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { WebSocket } from "ws";
import { type Hostile, makeHostile, makeRandom } from "../node/hostile-messages.js";
import { describeChips } from "./chips.js";
import { startInSession } from "./device.js";
import { HOSTILE_MESSAGES } from "./lengths.js";
import type { QemuImage } from "./qemu.js";

/** So many are sent before a ping has to be answered. */
const BATCH = 50;
const SEED = 20_261_122;
/** Largest piece that is written, in bytes. */
const MAX_PIECE = 1_500;

/** The bytes of frames, as `ws` makes them. Sent by {@link sendCut} instead of by it. */
function framesOf(socket: WebSocket, message: Hostile): Buffer {
	const { _socket: connection } = socket as unknown as { _socket: Socket };
	const written: Buffer[] = [];
	const { write } = connection;
	connection.write = ((bytes: Buffer): boolean => {
		written.push(Buffer.from(bytes));
		return true;
	}) as typeof write;
	const fragments = Array.isArray(message) ? message : [message];
	for (const [at, fragment] of fragments.entries()) {
		socket.send(fragment, { binary: false, fin: at === fragments.length - 1 });
	}
	connection.write = write;
	return Buffer.concat(written);
}

/** Writes bytes in pieces that end anywhere. The chip may get each by itself. */
async function sendCut(socket: WebSocket, bytes: Buffer, random: () => number): Promise<void> {
	const { _socket: connection } = socket as unknown as { _socket: Socket };
	for (let at = 0; at < bytes.length; ) {
		const end = at + 1 + Math.floor(random() * MAX_PIECE);
		connection.write(bytes.subarray(at, end));
		at = end;
		await setImmediate();
	}
}

async function sendHostile(t: TestContext, image: QemuImage): Promise<void> {
	const device = await startInSession(t, { image });
	const { socket } = device.backend;
	(socket as unknown as { _socket: Socket })._socket.setNoDelay();

	const ask = async (id: string, method: string, params = {}) => {
		device.backend.say({ type: "mcp", payload: { jsonrpc: "2.0", id, method, params } });
		for (;;) {
			const answer = await device.backend.answer();
			if (answer.id === id) {
				return answer;
			}
		}
	};
	const memory = async (id: string) => {
		const answer = await ask(id, "tools/call", { name: "self.get_system_info", arguments: {} });
		return JSON.parse(answer.result.content[0].text);
	};
	const before = await memory("before");

	const random = makeRandom(SEED);
	for (let sent = 1; sent <= HOSTILE_MESSAGES; sent += 1) {
		await sendCut(socket, framesOf(socket, makeHostile(random)), random);
		if (sent % BATCH === 0 || sent === HOSTILE_MESSAGES) {
			assert.deepEqual((await ask(`ping-${sent}`, "ping")).result, {}, `after ${sent} messages`);
			assert.equal(device.backend.socket, socket, `a new session after ${sent} messages`);
		}
	}
	const after = await memory("after");
	for (const [when, info] of Object.entries({ before, after })) {
		t.diagnostic(`${when}: ${info.minimum_free_heap_size} bytes least free, ${JSON.stringify(info.board.memory)}`);
	}
}

describeChips({ topic: "hostile messages" }, (build) => {
	it(`survives ${HOSTILE_MESSAGES} hostile messages in frames that are cut anywhere`, async (t) =>
		sendHostile(t, await build()));
});
