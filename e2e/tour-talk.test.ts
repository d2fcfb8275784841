import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import { connectClient } from "xs-mcp-gateway/testing/gateway";
import { BINARY, MICROPHONE, SAMPLES_HEAD_BYTES } from "xs-mcp-virtual-device/page-messages";
import { whyMissing, whyNoOpus } from "../host-test/support/optional-program.js";
import { Program, typeScript } from "../host-test/support/program.js";
import { samplesOf, speak } from "../host-test/support/speak.js";
import { skipIf, temporaryFolder, until } from "../host-test/support/testing.js";

// docs/talk.md, as a person follows it.

const SENTENCE = "Dinner is ready.";

const NO_OPUS = skipIf(await whyNoOpus());

async function openPage(url: string) {
	const { host } = new URL(url);
	const socket = new WebSocket(`ws://${host}/device`, { headers: { origin: `http://${host}` } });
	const played = { bytes: 0, isOver: false };
	socket.on("message", (data: Buffer, isBinary) => {
		if (isBinary && data[0] === BINARY.samples) {
			played.bytes += data.length - SAMPLES_HEAD_BYTES;
		} else if (isBinary && data[0] === BINARY.sound) {
			played.isOver = true;
		}
	});
	await new Promise((resolve) => socket.on("open", resolve));
	return { socket, played };
}

/** A recognizer that tells speech from silence: it wants the WAV file of a sentence. */
const RECOGNIZER = `
	const { readFileSync } = require("node:fs");
	const wav = readFileSync(process.argv[2]);
	let loud = 0;
	for (let at = 44; at + 1 < wav.length; at += 2) loud += Math.abs(wav.readInt16LE(at)) > 1_000;
	console.log(loud > 2_000 ? "Tea, please." : "");`;

function talk(socket: WebSocket, text: string): () => void {
	// The pause in which a listener knows that it has ended.
	const looped = Int16Array.from([...samplesOf(speak(text), 16_000), ...new Int16Array(3 * 16_000)]);
	let at = 0;
	const timer = setInterval(() => {
		const piece = Int16Array.from({ length: 960 }, (_, index) => looped[(at + index) % looped.length] ?? 0);
		at += piece.length;
		socket.send(Buffer.concat([Buffer.from(MICROPHONE), Buffer.from(piece.buffer)]));
	}, 60);
	return () => clearInterval(timer);
}

describe("docs/talk.md", { skip: skipIf(whyMissing("espeak-ng", "espeak-ng")) }, () => {
	it("leads to a device that speaks: by npm start, and by an MCP client's call of say", async (t) => {
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
		assert.ok(played.bytes > samplesOf(speak(SENTENCE), 16_000).length);
	});

	it("leads to a device that asks, and is answered by voice at its page", { skip: NO_OPUS }, async (t) => {
		const recognizer = join(temporaryFolder("xs-mcp-talk-"), "recognizer.cjs");
		writeFileSync(recognizer, RECOGNIZER);
		const own = ["--transcription-command", `${process.execPath} ${recognizer} {file}`];
		const args = typeScript("examples/tour/main.ts", "--engine", "v8", "--port", "0", "--http-port", "0", ...own);
		const tour = await Program.start(args, (output) => output.includes("Have it speak"));
		t.after(() => tour.stop());
		const { socket } = await openPage(tour.said(/see its messages: (http\S+)/));
		t.after(() => socket.terminate());
		t.after(talk(socket, "Tea, please."));
		const client = await connectClient(t, new URL(tour.said(/Connect your MCP client to (http\S+),/)), "2025-11-25");
		const said = await client.callTool({ name: "say", arguments: { text: "Hello.", devices: ["all"] } });
		const [{ device }] = (said.structuredContent as { results: [{ device: string }] }).results;
		const question = { device, question: "Tea or coffee?", answers: ["tea", "coffee"], seconds: 30 };
		const { structuredContent } = await client.callTool({ name: "ask", arguments: question });
		const { by, answer } = structuredContent as { by: string; answer: string };
		assert.deepEqual([by, answer], ["voice", "tea"]);
	});
});
