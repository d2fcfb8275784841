import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { whyNoOpus } from "../../../host-test/support/optional-program.js";
import { skipIf, until } from "../../../host-test/support/testing.js";
import { Environment } from "../src/environment.js";
import { MICROPHONE_RATE, Microphone, openCodec } from "../src/services/codecs.js";

function open(t: TestContext) {
	const delivered: unknown[] = [];
	const environment = new Environment(new EventEmitter(), "", undefined);
	const codecs = openCodec(({ header }) => void delivered.push(header.join(" ")), environment);
	t.after(() => codecs.close());
	return { codecs, microphone: environment.microphone, delivered };
}

describe("the codec of a virtual device", { skip: skipIf(await whyNoOpus()) }, () => {
	it("keeps no timer if it is closed while it opens", async (t) => {
		const { codecs, delivered } = open(t);
		codecs.take("begin", [7, 24_000, 60]);
		await Promise.resolve();
		codecs.close();
		await until(() => delivered.length > 0, "what was opened is closed");
		assert.deepEqual(delivered, ["codec.ended 7"]);
	});

	it("records once a microphone is connected, also while the device listens", async (t) => {
		const { codecs, microphone, delivered } = open(t);
		codecs.take("record", [true]);
		codecs.take("begin", [7, 24_000, 60]);
		codecs.take("stop", []);
		await until(() => delivered.length > 0, "it listens");
		assert.deepEqual(delivered, ["codec.ended 7"]);
		microphone.hear(new Int16Array(960), MICROPHONE_RATE);
		await until(() => delivered.length > 1, "it records");
		assert.equal(delivered[1], "codec.packet 0");
	});
});

const samples = (...values: readonly number[]): Int16Array => Int16Array.from(values);

describe("the microphone of a virtual device", () => {
	it("keeps 300 ms of a person's microphone between reads", () => {
		const microphone = new Microphone();
		for (let piece = 1; piece <= 10; piece += 1) {
			microphone.hearLive(new Int16Array(960).fill(piece));
		}
		const heard = new Set(microphone.take(4_800));
		assert.deepEqual([...heard], [6, 7, 8, 9, 10]);
		assert.deepEqual([...microphone.take(1)], [0]);
	});

	it("hears silence while it is muted, and refuses more than five minutes", () => {
		const microphone = new Microphone();
		microphone.hear(samples(5), MICROPHONE_RATE);
		microphone.isMuted = true;
		assert.deepEqual([...microphone.take(1)], [0]);
		assert.throws(() => microphone.hear(new Int16Array(301 * MICROPHONE_RATE), MICROPHONE_RATE), /more than 300 s/);
	});
});
