import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import { resample } from "../../gateway/src/speech/resample.js";
import { connectClient } from "../../gateway/test/support/gateway.js";
import { BINARY, SAMPLES_HEAD_BYTES } from "../../virtual-device/src/page/page-messages.js";
import { Program, typeScript } from "../e2e/program.js";
import { correlationWithGaps } from "../support/correlation.js";
import { whyMissing } from "../support/optional-program.js";
import { skipIf } from "../support/skip-if.js";
import { speak } from "../support/speak.js";
import { until } from "../support/until.js";

// docs/talk.md, as a person follows it.

const SENTENCE = "Dinner is ready.";

const PAGE = new URL("../../docs/talk.md", import.meta.url);

/** The page of a device, and what it plays. */
async function openPage(url: string) {
	const { host } = new URL(url);
	const socket = new WebSocket(`ws://${host}/device`, { headers: { origin: `http://${host}` } });
	const pieces: Buffer[] = [];
	const played = {
		rate: 0,
		isOver: false,
		samples: () => new Int16Array(Uint8Array.from(Buffer.concat(pieces)).buffer),
	};
	socket.on("message", (data: Buffer, isBinary) => {
		if (isBinary && data[0] === BINARY.samples) {
			played.rate = data.readUInt32LE(4);
			pieces.push(data.subarray(SAMPLES_HEAD_BYTES));
		} else if (isBinary && data[0] === BINARY.sound) {
			played.isOver = true;
		}
	});
	await new Promise((resolve) => socket.on("open", resolve));
	return { socket, played };
}

describe("docs/talk.md", { skip: skipIf(whyMissing("espeak-ng", "espeak-ng")) }, () => {
	it("leads to a device that speaks: by npm start, and by an MCP client's call of say", async (t) => {
		assert.match(readFileSync(PAGE, "utf8"), /```sh\nsudo apt-get install espeak-ng\nnpm start\n```/);
		const ports = ["--port", "0", "--http-port", "0"];
		const args = typeScript("examples/tour/main.ts", "--engine", "v8", ...ports);
		const tour = await Program.start(args, (output) => output.includes("Have it speak"));
		t.after(() => tour.stop());
		const { socket, played } = await openPage(tour.said(/see its messages: (http\S+)/));
		t.after(() => socket.terminate());
		const client = await connectClient(t, new URL(tour.said(/Connect your MCP client to (http\S+),/)), "2025-11-25");
		const { content } = await client.callTool({ name: "say", arguments: { text: SENTENCE, devices: ["all"] } });
		assert.match((content as { text: string }[])[0]?.text ?? "", /: played$/);
		await until(() => played.isOver, "the page has it all");
		const { sampleRate, samples } = speak(SENTENCE);
		const likeness = correlationWithGaps(resample(samples, sampleRate, played.rate), played.samples(), played.rate);
		assert.ok(likeness >= 0.9, `correlation ${likeness}`);
	});
});
