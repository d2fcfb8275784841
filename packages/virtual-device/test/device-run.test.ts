import assert from "node:assert/strict";
import { once } from "node:events";
import { it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { listenForSockets, until } from "../../../host-test/support/testing.js";
import type { Engine } from "../src/engine/engine.js";
import { VirtualDevice } from "../src/virtual-device.js";

/** More than the sockets of both sides buffer. */
const MESSAGES = 16;
const MESSAGE = Buffer.alloc(1_000_000);

it("a virtual device holds up a backend that is faster than its firmware", async (t) => {
	const { server, url } = await listenForSockets(t);
	let read = (): void => {};
	const reading = new Promise<void>((resolve) => {
		read = resolve;
	});
	const engine: Partial<Engine> = {
		run: async (script) => (script === "" ? [{ header: ["ws.open", 1, url, []] }] : []),
		deliver: () => reading.then(() => []),
		exited: new Promise(() => {}),
		close: () => {},
	};
	const device = new VirtualDevice({ firmware: "", startEngine: async () => engine as Engine, config: {} });
	t.after(() => device.stop());
	const connected = once(server, "connection");
	await device.start();
	const [backend] = await connected;
	for (let sent = 0; sent < MESSAGES; sent += 1) {
		backend.send(MESSAGE);
	}
	await delay(300);
	assert.ok(backend.bufferedAmount > 0, "the device took all messages, although its firmware reads none");
	read();
	await until(() => backend.bufferedAmount === 0, "all messages were taken");
});
