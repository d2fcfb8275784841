import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReceiveWindow } from "../src/receive-window.js";

/** A window, and its calls in order: "pause http.1". */
function windowWithCalls(): { window: ReceiveWindow; calls: string[] } {
	const calls: string[] = [];
	return { window: new ReceiveWindow((prefix, kind, id) => calls.push(`${kind} ${prefix}.${id}`)), calls };
}

const data = (id: number, byteLength: number) => ({ header: ["http.data", id], bytes: new Uint8Array(byteLength) });

describe("the receive window of a virtual device", () => {
	it("pauses a socket whose data the firmware does not take, and resumes it when the firmware has taken it", () => {
		const { window, calls } = windowWithCalls();
		for (let sent = 0; sent < 64; sent += 1) {
			window.add(data(1, 1_024));
		}
		assert.deepEqual(calls, []);
		window.add(data(1, 1));
		assert.deepEqual(calls, ["pause http.1"]);
		window.take();
		assert.deepEqual(calls, ["pause http.1", "resume http.1"]);
	});

	it("leaves a socket paused that the firmware reads from again until its data is taken", () => {
		const { window, calls } = windowWithCalls();
		window.heed(["http.pause", 1]);
		window.add(data(1, 70_000));
		assert.deepEqual(window.take(), []);
		assert.equal(window.heed(["http.resume", 1]), true);
		assert.deepEqual(calls, ["pause http.1"]);
		assert.equal(window.take().length, 1);
		assert.deepEqual(calls, ["pause http.1", "resume http.1"]);
	});

	it("hands over the data of other connections meanwhile", () => {
		const { window, calls } = windowWithCalls();
		window.heed(["http.pause", 1]);
		window.add(data(1, 10));
		window.add(data(2, 20));
		const found = window.take().map(({ header }) => header[1]);
		assert.deepEqual(found, [2]);
		assert.deepEqual(calls, ["pause http.1"]);
	});

	it("leaves all other messages of the firmware to the services", () => {
		const { window } = windowWithCalls();
		assert.equal(window.heed(["http.close", 1]), false);
		assert.equal(window.heed(["http.write", 1]), false);
	});
});
