import assert from "node:assert/strict";
import { it } from "node:test";
import { AudioLink } from "../src/core/audio-link.js";

function open() {
	const dropped: string[] = [];
	const link = new AudioLink(
		() => {},
		(reason) => dropped.push(reason),
	);
	return { link, dropped };
}

const PACKET = Uint8Array.of(88, 1, 2);

it("the audio of a session with a device is dropped above 200 packets a second", (t) => {
	t.mock.method(performance, "now", () => 1_000);
	const { link, dropped } = open();
	let heard = 0;
	link.on("packet", () => {
		heard += 1;
	});
	for (let sent = 0; sent < 1_000; sent += 1) {
		link.receive(() => PACKET);
	}
	assert.deepEqual([heard, dropped.length, dropped[0]], [200, 800, "more than 200 packets in a second"]);
});
