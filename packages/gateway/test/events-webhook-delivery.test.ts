import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventFeed } from "../src/events/event-feed.js";
import { EventLog } from "../src/events/event-log.js";
import { makeDelivery } from "../src/events/webhook-delivery.js";

/** A delivery of four events to an endpoint whose status the test gives. */
async function deliver(statusOf: (body: Record<string, unknown>) => number, cursor: string | null) {
	const log = await EventLog.open(undefined);
	const feed = new EventFeed(log, { matches: () => true }, { cursor });
	const sent: unknown[] = [];
	const givenUp: unknown[] = [];
	const send = async ({ body }: { body: object }) => {
		const { type, data } = body as { type?: string; data?: { button: string } };
		sent.push(type ?? data?.button);
		return { status: statusOf(body as Record<string, unknown>), body: "" };
	};
	const onGivenUp = (...args: unknown[]) => givenUp.push(args);
	const delivery = makeDelivery(feed, send, { onMoved() {}, onGone() {}, onGivenUp });
	const running = delivery.run();
	for (const button of ["a", "b", "c", "d"]) {
		log.append({ name: "button.pressed", device: "lamp", data: { button } });
	}
	for (let round = 0; round < 100; round += 1) {
		await new Promise(setImmediate);
		// Shortens the pause between two attempts.
		delivery.retry();
	}
	delivery.stop();
	await running;
	return { sent, givenUp };
}

describe("delivery to an endpoint", () => {
	it("gives an event up that is always refused, tells the gap, and continues in order", async () => {
		const refusing = ({ data }: Record<string, unknown>) => ((data as { button?: string })?.button === "b" ? 500 : 200);
		const { sent, givenUp } = await deliver(refusing, null);
		assert.deepEqual(sent, ["a", "b", "b", "b", "b", "b", "gap", "c", "d"]);
		assert.deepEqual(givenUp, [["http_5xx", true]]);
	});

	it("continues if the endpoint does not accept the message of a gap", async () => {
		const { sent, givenUp } = await deliver(({ type }) => (type === "gap" ? 400 : 200), "0123456789ab.7");
		assert.deepEqual(sent, ["gap", "gap", "gap", "gap", "gap", "a", "b", "c", "d"]);
		assert.deepEqual(givenUp, []);
	});
});
