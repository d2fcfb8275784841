// Restarts in a row, and calls for an hour, on emulated chips. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import { it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { describeChips } from "./chips.js";
import { startInSession } from "./device.js";
import { RESTARTS, SOAK_TIME } from "./lengths.js";

const CALLS_PER_SECOND = 2;

/** Maximum growth of the used system heap during the test, bytes: the buffers of a connection. */
const MAX_LOSS = 8_192;

describeChips({ topic: "long use" }, (build) => {
	it(`comes back after each of ${RESTARTS} restarts by self.reboot`, async (t) => {
		const device = await startInSession(t, { image: await build() });
		const free: number[] = [];
		for (let restart = 1; restart <= RESTARTS; restart += 1) {
			device.fail("self.reboot");
			await device.nextSession();
			free.push((await device.info()).board.memory.free_heap_size);
		}
		// Not the resets: the ROM of an emulated chip with two cores sometimes prints two for a restart.
		assert.equal(device.console().split("entry 0x").length - 1, RESTARTS + 1);
		t.diagnostic(`bytes free after a restart: ${Math.min(...free)} to ${Math.max(...free)}`);
	});

	it(`answers ${CALLS_PER_SECOND} calls a second for ${SOAK_TIME} s in one session, and keeps its memory`, async (t) => {
		const device = await startInSession(t, { image: await build() });
		const { socket } = device.backend;
		const first = await device.info();
		const calls = SOAK_TIME * CALLS_PER_SECOND;
		const begin = performance.now();
		for (let call = 1; call <= calls; call += 1) {
			await setTimeout(Math.max(0, begin + (call * 1_000) / CALLS_PER_SECOND - performance.now()));
			assert.equal((await device.call("self.get_device_status")).result.isError, false, `call ${call}`);
		}
		assert.equal(device.backend.socket, socket, "in one session");
		const last = await device.info();
		for (const [when, { minimum_free_heap_size, board }] of Object.entries({ first, last })) {
			t.diagnostic(`${when}: ${minimum_free_heap_size} bytes least free, ${JSON.stringify(board.memory)}`);
		}
		t.diagnostic(`${calls} calls in ${((performance.now() - begin) / 1_000).toFixed(0)} s`);
		assert.ok(last.board.memory.free_heap_size >= first.board.memory.free_heap_size - MAX_LOSS);
	});
});
