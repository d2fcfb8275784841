import assert from "node:assert/strict";
import { it } from "node:test";
import { SharedEvents } from "../src/cluster/shared-events.js";
import { SaveState } from "../src/config/state-files.js";
import { EventLog } from "../src/events/event-log.js";

it("an outage of the stream of events is told once, and so is its end", async () => {
	const told: (string | undefined)[] = [];
	const saves = new SaveState((problem) => told.push(problem?.message));
	const log = await EventLog.open(undefined);
	const events = new SharedEvents(
		log,
		() => {},
		(problem) => saves.note("events", problem),
	);
	let isFull = true;
	const stream = {
		epoch: "0123456789ab",
		store: async (): Promise<void> => {
			if (isFull) {
				throw new Error("maximum bytes exceeded");
			}
		},
		follow: async (): Promise<void> => {},
	};
	await events.enter(Promise.resolve(stream), new AbortController().signal);
	const event = { name: "timer.due", device: "lamp", data: {}, timestamp: "" };
	for (let count = 0; count < 5; count += 1) {
		events.publish(event, undefined);
		await events.flush();
	}
	assert.equal(saves.problem?.message, "cluster: events are not stored: maximum bytes exceeded");
	isFull = false;
	await events.flush();
	assert.deepEqual(
		[saves.problem, told],
		[undefined, ["cluster: events are not stored: maximum bytes exceeded", undefined]],
	);
});

it("an event that happens before the stream is read the first time is stored in it", async () => {
	const log = await EventLog.open(undefined);
	const events = new SharedEvents(log, assert.fail, assert.ifError);
	log.append({ name: "timer.due", device: "lamp", data: { id: "t" } } as never);
	const stored: string[] = [];
	const stream = {
		epoch: "0123456789ab",
		store: async (text: string): Promise<void> => void stored.push(JSON.parse(text).device),
		follow: async (): Promise<void> => {},
	};
	await events.enter(Promise.resolve(stream), new AbortController().signal);
	assert.deepEqual([stored, log.last], [["lamp"], 0]);
});
