import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { it } from "node:test";
import { AudioLink, type Connection } from "xs-mcp-manager/core";
import { streamSpeech } from "../src/speech/spoken-stream.js";

// The pace of what is said, by a clock of the test's. What a device hears over a real connection is in say-by-opus.test.ts.

const FRAME = 60;

class TestClock {
	#time = 0;
	#waiting: { readonly until: number; readonly resolve: () => void }[] = [];

	now(): number {
		return this.#time;
	}

	wait(milliseconds: number, signal: AbortSignal): Promise<void> {
		return new Promise((resolve, reject) => {
			this.#waiting.push({ until: this.#time + milliseconds, resolve });
			signal.throwIfAborted();
			signal.addEventListener("abort", () => reject(signal.reason));
		});
	}

	/** Lets time pass from one wait to the next. */
	async pass(milliseconds: number): Promise<void> {
		const end = this.#time + milliseconds;
		for (;;) {
			await new Promise(setImmediate);
			const next = Math.min(...this.#waiting.map(({ until }) => until));
			if (next > end) {
				break;
			}
			this.#time = next;
			const due = this.#waiting.filter(({ until }) => until <= next);
			this.#waiting = this.#waiting.filter(({ until }) => until > next);
			for (const { resolve } of due) {
				resolve();
			}
		}
		this.#time = end;
	}
}

function say(count: number, { mayOvertake = false } = {}) {
	const clock = new TestClock();
	const sent: [time: number, what: string][] = [];
	const events = new EventEmitter();
	const connection = { events, send: ({ state }: { state?: unknown }) => sent.push([clock.now(), `${state}`]) };
	const write = ([number]: Uint8Array): void => void sent.push([clock.now(), `packet ${number}`]);
	const channel = new AudioLink(write, () => {}, false, mayOvertake ? () => true : undefined);
	const cancel = new AbortController();
	const packets = Array.from({ length: count }, (_, index) => Uint8Array.of(index));
	const outcome: { confirmed?: boolean; error?: Error } = {};
	streamSpeech(connection as unknown as Connection, channel, "hello", packets, cancel.signal, clock).then(
		(confirmed) => Object.assign(outcome, { confirmed }),
		(error) => Object.assign(outcome, { error }),
	);
	const pass = (milliseconds: number): Promise<void> => clock.pass(milliseconds);
	return { sent, events, channel, cancel, outcome, pass, what: () => sent.map(([, what]) => what) };
}

it("gives tts start time to arrive before packets that could overtake it", async () => {
	const { sent, pass } = say(1, { mayOvertake: true });
	await pass(1_000);
	assert.deepEqual(sent.slice(1, 3), [
		[0, "sentence_start"],
		[200, "packet 0"],
	]);
});

it("sends three packets ahead, and then one for each that is played", async () => {
	const { sent, pass } = say(10);
	await pass(10 * FRAME);
	const packets = sent.filter(([, what]) => what.startsWith("packet"));
	const times = packets.map(([time]) => time);
	assert.deepEqual(
		times,
		[0, 0, 0, 1, 2, 3, 4, 5, 6, 7].map((count) => count * FRAME),
	);
});

it("is confirmed by a device that speaks no more, or that listens", async () => {
	for (const confirm of [
		({ events }: ReturnType<typeof say>) =>
			events.emit("notification", "notifications/state_changed", { oldState: "speaking", newState: "idle" }),
		({ channel }: ReturnType<typeof say>) => channel.receiveMessage({ type: "listen", state: "start" }),
	]) {
		const side = say(1);
		await side.pass(4 * FRAME);
		assert.deepEqual(side.outcome, {});
		confirm(side);
		await side.pass(1);
		assert.deepEqual(side.outcome, { confirmed: true });
	}
});

it("is not confirmed by a device that says nothing for three seconds", async () => {
	const { outcome, pass } = say(1);
	await pass(4 * FRAME + 2_500);
	assert.deepEqual(outcome, {});
	await pass(600);
	assert.deepEqual(outcome, { confirmed: false });
});
