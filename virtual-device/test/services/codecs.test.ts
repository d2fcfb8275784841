import assert from "node:assert/strict";
import { it } from "node:test";
import { whyNoOpus } from "../../../host-test/support/optional-program.js";
import { skipIf } from "../../../host-test/support/skip-if.js";
import { until } from "../../../host-test/support/until.js";
import { Codecs } from "../../src/services/codecs.js";
import type { Microphone } from "../../src/services/microphone.js";

it("a codec that is closed while it opens keeps no timer", { skip: skipIf(await whyNoOpus()) }, async () => {
	const ended: number[] = [];
	const codecs = new Codecs({
		deliver: ({ header }) => void ended.push(header[1] as number),
		microphone: { isConnected: true } as Microphone,
		onSamples: () => {},
		onEnd: () => {},
		log: () => {},
	});
	codecs.take("begin", [7, 24_000, 60]);
	await Promise.resolve();
	codecs.close();
	await until(() => ended.length > 0, "what was opened is closed");
	assert.deepEqual(ended, [7]);
});
