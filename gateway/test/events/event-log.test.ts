import assert from "node:assert/strict";
import { it } from "node:test";
import { temporaryFolder } from "../../../host-test/support/temporary-folder.js";
import { EventLog } from "../../src/events/event-log.js";

it("an event that waits for the disk while its gateway joins a cluster has no place among those of the cluster", async () => {
	const saved: unknown[] = [];
	const log = await EventLog.open(`${temporaryFolder()}/events`, (error) => saved.push(error));
	const event = { name: "device.offline", device: "d", data: {} };
	log.append(event);
	log.share({ publish: () => {} }, "0123456789ab");
	const timestamp = new Date().toISOString();
	for (const seq of [1, 2, 3]) {
		log.received(seq, { ...event, timestamp });
	}
	await log.close();
	assert.deepEqual(saved, [undefined]);
	log.received(4, { ...event, timestamp });
	const ids = log.after(0).map(({ eventId }) => eventId);
	assert.deepEqual(
		ids,
		[1, 2, 3, 4].map((seq) => `evt_0123456789ab_${seq}`),
	);
});
