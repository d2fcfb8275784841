import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { testWith, until } from "../../../host-test/support/testing.js";
import { STATUS, toolNames, type WireDeviceOptions } from "../testing/gateway.js";
import { connect, startProgram } from "../testing/program.js";
import { done, PLAY, Speaker, say, startSpeaking } from "../testing/speaker.js";

const SHOW_TEXT = {
	name: "self.screen.show_text",
	inputSchema: { type: "object", properties: { text: { type: "string", maxLength: 12 } }, required: ["text"] },
};

async function start(
	t: TestContext,
	options: WireDeviceOptions = {},
	settings: Parameters<typeof startSpeaking>[1] = {},
) {
	const side = await startSpeaking(t, settings);
	const speaker = await Speaker.connect(t, side, options);
	return { side, speaker, device: speaker.device, client: await connect(t, side) };
}

const itSpeaking = testWith(startSpeaking);
const itStarted = testWith(start);

describe("say", () => {
	it("is played by a device with a speaker, and returns when the sound has ended", async (t) => {
		const { speaker, client } = await start(t);
		const { text, results } = await say(client, { text: "dinner is ready" });
		assert.deepEqual(speaker.heard, ["dinner is ready"]);
		assert.deepEqual(results, [{ device: "lamp_000001", outcome: "played" }]);
		assert.equal(text, "lamp_000001: played");
	});

	itSpeaking("is spoken once for several devices", async (side, t) => {
		const ids = ["01", "02", "03"].map((end) => `aa:bb:cc:00:00:${end}`);
		const speakers = await Promise.all(ids.map((id) => Speaker.connect(t, side, { id })));
		await say(await connect(t, side), { text: "all of you" });
		const urls = speakers.map(({ device }) => new URL(device.calls[0]?.arguments.url as string).pathname);
		assert.equal(new Set(urls).size, 1);
		const heards = speakers.flatMap(({ heard }) => heard);
		assert.deepEqual(heards, ["all of you", "all of you", "all of you"]);
	});

	itStarted("is at a URL that ends with the sound", async ({ device, client }) => {
		await say(client, { text: "once" });
		const url = device.calls[0]?.arguments.url as string;
		assert.equal((await fetch(url)).status, 404);
		assert.equal((await fetch(url, { method: "POST" })).status, 405);
	});

	it("is shown by a device that has only a screen, as much of it as fits", async (t) => {
		const { device, client } = await start(t, { tools: [SHOW_TEXT] });
		const { results } = await say(client, { text: "the door is open" });
		assert.deepEqual(results, [{ device: "lamp_000001", outcome: "shown", reason: "no speaker" }]);
		assert.deepEqual(device.calls[0]?.arguments, { text: "the door is " });
	});

	it("fails for a device that has neither, and for one that is offline; the others play it", async (t) => {
		const side = await startSpeaking(t);
		await Speaker.connect(t, side);
		await Speaker.connect(t, side, { id: "aa:bb:cc:00:00:02", tools: [STATUS] });
		const { device } = await Speaker.connect(t, side, { id: "aa:bb:cc:00:00:03" });
		await device.unplug();
		const client = await connect(t, side);
		const { text, isError } = await say(client, { text: "hello" });
		assert.deepEqual(text.split("\n"), [
			"lamp_000001: played",
			"lamp_000002: failed (no speaker, and no screen for texts)",
			"lamp_000003: failed (offline)",
		]);
		assert.equal(isError, false);
		assert.equal((await say(client, { text: "hello", devices: ["lamp_000003"] })).isError, true);
	});

	itSpeaking("fails with the device's own error", async (side, t) => {
		await Speaker.connect(t, side, { onCall: () => ({ ...done("the speaker is broken"), isError: true }) });
		assert.equal(
			(await say(await connect(t, side), { text: "hello" })).text,
			"lamp_000001: failed (the speaker is broken)",
		);
	});

	itStarted("sets the volume for as long as it lasts", async ({ speaker, client }) => {
		await say(client, { text: "hello", volume: 90 });
		assert.deepEqual(speaker.calls, [
			"self.get_device_status {}",
			'self.audio_speaker.set_volume {"volume":90}',
			"self.audio_speaker.play {}",
			'self.audio_speaker.set_volume {"volume":40}',
		]);
	});

	itSpeaking("comes after the chime of a device that has one", async (side, t) => {
		const chime = { name: "self.audio_speaker.chime", inputSchema: { type: "object" } };
		const speaker = await Speaker.connect(t, side, { tools: [PLAY, chime] });
		const other = await Speaker.connect(t, side, { id: "aa:bb:cc:00:00:02" });
		await say(await connect(t, side), { text: "hello", chime: true });
		assert.deepEqual(speaker.calls, ["self.audio_speaker.chime {}", "self.audio_speaker.play {}"]);
		assert.deepEqual([speaker.heard, other.heard], [["hello"], ["hello"]]);
	});

	itStarted("fails when the device disconnects while it plays", async ({ speaker, client }) => {
		speaker.isSlow = true;
		const said = say(client, { text: "hello" });
		await until(() => speaker.heard.length === 1, "it plays");
		await speaker.device.unplug();
		assert.match((await said).text, /^lamp_000001: failed \(lamp_000001 disconnected during the call/);
	});

	itStarted(
		"that is urgent interrupts what the device says, and comes before those that wait",
		async ({ speaker, client }) => {
			speaker.isSlow = true;
			const all = [say(client, { text: "one" })];
			await until(() => speaker.heard.length === 1, "the first is heard");
			all.push(say(client, { text: "two" }), say(client, { text: "three" }));
			all.push(say(client, { text: "fire", urgent: true }));
			for (let count = 1; count < 4; count += 1) {
				await until(() => speaker.heard.length === count + 1, `${count} are heard`);
				speaker.end(speaker.device.calls[count]);
			}
			const [first] = await Promise.all(all);
			assert.equal(first?.text, "lamp_000001: failed (interrupted by an urgent announcement)");
			assert.deepEqual(speaker.device.cancelled, [speaker.device.calls[0]?.id]);
			assert.deepEqual(speaker.heard.slice(0, 2), ["one", "fire"]);
			assert.deepEqual(speaker.heard.slice(2).sort(), ["three", "two"]);
		},
	);

	itStarted("is rejected while 8 wait for the device", async ({ speaker, client }) => {
		speaker.isSlow = true;
		const all = Array.from({ length: 10 }, () => say(client, { text: "again" }));
		assert.equal(
			(await Promise.race(all)).text,
			"lamp_000001: failed (8 calls wait for this device to speak or listen)",
		);
		for (let count = 0; count < 9; count += 1) {
			await until(() => speaker.heard.length > count, `${count} are heard`);
			speaker.end(speaker.device.calls[count]);
		}
		const played = (await Promise.all(all)).filter(({ text }) => text === "lamp_000001: played");
		assert.equal(played.length, 9);
	});

	itStarted("ends when the client cancels its call", async ({ speaker, client }) => {
		speaker.isSlow = true;
		const cancel = new AbortController();
		const saying = say(client, { text: "a long story" }, cancel.signal);
		await until(() => speaker.heard.length === 1, "it is heard");
		cancel.abort();
		await assert.rejects(saying);
		await until(() => speaker.device.cancelled.length === 1, "the device is told");
		assert.deepEqual(speaker.device.cancelled, [speaker.device.calls[0]?.id]);
	});

	itStarted("is repeated until a button is pressed", async ({ speaker, client }) => {
		const saying = say(client, { text: "get up", until_pressed: true });
		await until(() => speaker.heard.length === 2, "it is repeated");
		speaker.device.notify("notifications/button_pressed", { button: "boot", long: false, milliseconds: 120 });
		assert.equal((await saying).text, "lamp_000001: played (a button was pressed)");
	});

	it("is shown in quiet hours, unless it is urgent", async (t) => {
		const at = (minutes: number) => new Date(Date.now() + 60_000 * minutes).toTimeString().slice(0, 5);
		const { speaker, client } = await start(t, { tools: [PLAY, SHOW_TEXT] }, { quietHours: `${at(-60)}-${at(60)}` });
		assert.equal((await say(client, { text: "hello" })).text, "lamp_000001: shown (quiet hours)");
		assert.equal((await say(client, { text: "fire", urgent: true })).text, "lamp_000001: played");
		assert.deepEqual(speaker.heard, ["fire"]);
	});

	it("is the text of a timer that is due, if the settings say so", async (t) => {
		const { speaker } = await start(t, {}, { speakTimers: true });
		speaker.device.notify("notifications/timer_due", { id: 1, text: "take out the pizza" });
		await until(() => speaker.heard.length === 1, "it is heard");
		assert.ok(speaker.heard[0]?.endsWith("take out the pizza"));
	});

	itSpeaking("reaches the devices of the token only, and is not offered to one that only reads", async (side, t) => {
		const own = await Speaker.connect(t, side);
		const other = await Speaker.connect(t, side, { id: "aa:bb:cc:00:00:02" });
		await side.tokens.add({ name: "admin", kind: "client" });
		const devices = ["aa:bb:cc:00:00:01"];
		const client = await connect(t, side, await side.tokens.add({ name: "agent", kind: "client", devices }));
		assert.equal((await say(client, { text: "hello" })).text, "lamp_000001: played");
		const wrong = await say(client, { text: "hello", devices: ["lamp_000002"] });
		assert.match(wrong.text, /devices: no device or tag "lamp_000002".*expected all, lamp_000001$/);
		assert.deepEqual([own.heard, other.heard], [["hello"], []]);
		const reader = await connect(t, side, await side.tokens.add({ name: "reader", kind: "client", readOnly: true }));
		assert.ok(!(await toolNames(reader)).includes("say"));
	});

	itSpeaking("rejects wrong arguments with the argument's name", async (side, t) => {
		const client = await connect(t, side);
		assert.match((await say(client, { text: " " })).text, /^say: text: /);
		for (const length of [1_001, 100_000]) {
			assert.match((await say(client, { text: "a".repeat(length) })).text, /^say: text: .*1000/);
		}
		assert.match((await say(client, { text: "hello", volume: 101 })).text, /^say: volume: /);
		const { content } = await client.callTool({ name: "say", arguments: { text: "hello" } });
		assert.deepEqual(content, [{ type: "text", text: "say: devices: required (array)" }]);
	});
});

it("a gateway without a voice does not offer say", async (t) => {
	const side = await startProgram(t);
	assert.ok(!(await toolNames(await connect(t, side))).includes("say"));
});
