import assert from "node:assert/strict";
import { describe, type TestContext } from "node:test";
import { openOpusDecoder } from "xs-mcp/build/opus";
import { correlation } from "../../../host-test/support/correlation.js";
import { whyNoOpus } from "../../../host-test/support/optional-program.js";
import { skipIf, testWith, until } from "../../../host-test/support/testing.js";
import { familyHello } from "../testing/family.js";
import { WireDevice, type WireDeviceOptions } from "../testing/gateway.js";
import { connect, type StartedProgram } from "../testing/program.js";
import { say, startSpeaking } from "../testing/speaker.js";

const ID = "aa:bb:cc:00:00:02";
const SHOW_TEXT = {
	name: "self.screen.show_text",
	inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

type FamilyOptions = Pick<WireDeviceOptions, "hello" | "tools"> & { readonly version?: number };

/** A device of the family, which keeps what it gets in the order in which it came. */
class FamilyDevice {
	/** "start", "sentence_start hello", "packet", "stop". */
	readonly heard: string[] = [];
	readonly frames: Buffer[] = [];

	/** @param version its `Protocol-Version` */
	static async connect(t: TestContext, side: StartedProgram, { version = 1, ...options }: FamilyOptions = {}) {
		const device = new FamilyDevice();
		const wire = await WireDevice.connect(t, side, {
			id: ID,
			board: "radio",
			tools: [],
			headers: { "protocol-version": `${version}` },
			hello: familyHello("websocket", version),
			onPacket: (packet) => {
				device.frames.push(packet);
				device.heard.push("packet");
			},
			onMessage: ({ type, state, text }) => {
				if (type === "tts") {
					device.heard.push(text === undefined ? `${state}` : `${state} ${text}`);
				}
			},
			...options,
		});
		return Object.assign(device, { say: wire.say.bind(wire), close: wire.unplug.bind(wire) });
	}

	/** The sound, once it has ended. */
	async ended(): Promise<string[]> {
		await until(() => this.heard.at(-1) === "stop", "it has ended");
		return this.heard.filter((each, at) => each !== this.heard[at - 1]);
	}

	async samples(read: (frame: Buffer) => Buffer = (frame) => frame): Promise<Int16Array> {
		const decoder = await openOpusDecoder(24_000);
		const pieces = this.frames.map((frame) => decoder.decode(read(frame)));
		decoder.free();
		return Int16Array.from(pieces.flatMap((piece) => [...piece]));
	}
}

const sayOn = async (t: TestContext, side: StartedProgram, text: string, signal?: AbortSignal): Promise<string> =>
	(await say(await connect(t, side), { text }, signal)).text;

/** A tone as the voice makes it, at 24 kHz. */
const tone = (seconds: number) =>
	Int16Array.from({ length: 24_000 * seconds }, (_, at) => 8_000 * Math.sin((at * 440 * 2 * Math.PI) / 24_000));

const itSpeaking = testWith(startSpeaking);

describe("say, to a device of the family", { skip: skipIf(await whyNoOpus()) }, () => {
	for (const [version, header] of [
		[1, 0],
		[2, 16],
		[3, 4],
	] as const) {
		itSpeaking(`is streamed as Opus between tts start and stop, in framing ${version}`, async (side, t) => {
			const device = await FamilyDevice.connect(t, side, { version });
			const saying = sayOn(t, side, "tone 1");
			assert.deepEqual(await device.ended(), ["start", "sentence_start tone 1", "packet", "stop"]);
			device.say({ type: "listen", state: "start", mode: "auto" });
			assert.equal(await saying, "radio_000002: played");
			const likeness = correlation(tone(1), await device.samples((frame) => frame.subarray(header)), 1_000);
			assert.ok(likeness > 0.9, `correlation ${likeness}`);
		});
	}

	itSpeaking("is only sent if the device does not say when it has ended", async (side, t) => {
		await FamilyDevice.connect(t, side);
		assert.equal(await sayOn(t, side, "hello"), "radio_000002: sent");
	});

	itSpeaking("ends at once when the client cancels its call", async (side, t) => {
		const device = await FamilyDevice.connect(t, side);
		const cancel = new AbortController();
		const saying = sayOn(t, side, "tone 20", cancel.signal);
		await until(() => device.frames.length > 5, "it is heard");
		cancel.abort();
		await assert.rejects(saying);
		await device.ended();
		assert.ok(device.frames.length < 300, `${device.frames.length} packets of 333`);
	});

	itSpeaking("fails when the person interrupts it at the device", async (side, t) => {
		const device = await FamilyDevice.connect(t, side);
		const saying = sayOn(t, side, "tone 20");
		await until(() => device.frames.length > 0, "it is heard");
		device.say({ type: "abort", reason: "wake_word_detected" });
		assert.equal(await saying, "radio_000002: failed (stopped at the device)");
		await device.ended();
	});

	itSpeaking("fails when the device disconnects meanwhile", async (side, t) => {
		const device = await FamilyDevice.connect(t, side);
		const saying = sayOn(t, side, "tone 20");
		await until(() => device.frames.length > 0, "it is heard");
		await device.close();
		assert.match(await saying, /^radio_000002: failed \(the device closed the connection\)$/);
	});

	itSpeaking("is text on firmware of this project that names the family's format without a codec", async (side, t) => {
		const hello = { ...familyHello("websocket"), max_message_bytes: 8_192 };
		const { frames } = await FamilyDevice.connect(t, side, { hello, tools: [SHOW_TEXT] });
		assert.equal(await sayOn(t, side, "hello"), "radio_000002: shown (no speaker)");
		assert.equal(frames.length, 0);
	});

	itSpeaking("is streamed to firmware of this project that has one", async (side, t) => {
		const hello = { ...familyHello("websocket"), features: { mcp: true, audio: true }, max_message_bytes: 8_192 };
		const device = await FamilyDevice.connect(t, side, { hello, tools: [SHOW_TEXT] });
		const saying = sayOn(t, side, "hello");
		await device.ended();
		const params = { newState: "idle", oldState: "speaking" };
		device.say({ type: "mcp", payload: { jsonrpc: "2.0", method: "notifications/state_changed", params } });
		assert.equal(await saying, "radio_000002: played");
	});
});
