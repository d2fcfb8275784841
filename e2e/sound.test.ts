import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { nextOnline } from "xs-mcp-gateway/testing/gateway";
import { wavFile } from "../host-test/doubles/wav.js";
import { callTool } from "../host-test/support/call-tool.js";
import { cases } from "../host-test/support/scope.js";
import { follow } from "../host-test/support/sounds.js";
import { listen, PATIENT, until } from "../host-test/support/testing.js";
import { ENGINES, openOverWebSocket, startDevice } from "./fixtures.js";

const RATE = 16_000;

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
	const server = createServer(answer);
	return `http://127.0.0.1:${await listen(t, server)}/sound.wav`;
}

function tone(frequency: number, seconds: number): number[] {
	const bytes = Buffer.alloc(2 * seconds * RATE);
	for (let at = 0; at < seconds * RATE; at += 1) {
		bytes.writeInt16LE(Math.round(20_000 * Math.sin((2 * Math.PI * frequency * at) / RATE)), 2 * at);
	}
	return [...bytes];
}

for (const engine of cases(ENGINES)) {
	describe(`the speaker of a virtual device, firmware on ${engine.kind}`, () => {
		const connect = async (t: TestContext) => {
			const { gateway, config } = await openOverWebSocket(t);
			const online = nextOnline(gateway.servers);
			const { device } = await startDevice(t, engine, { config });
			return { device, connection: (await online).connection, sound: follow(device) };
		};

		it("plays a WAV file from the web, sample for sample", async (t) => {
			const samples = tone(440, 1.5);
			const file = wavFile(samples, { sampleRate: RATE });
			const url = await serve(t, (_request, response) => response.end(file));
			const { connection, sound } = await connect(t);
			await callTool(connection, "self.audio_speaker.set_volume", { volume: 100 });
			await callTool(connection, "self.audio_speaker.play", { url }, PATIENT);
			const wanted = new Int16Array(Uint8Array.from(samples).buffer);
			assert.deepEqual(sound.samples().slice(0, wanted.length), wanted);
			assert.equal(sound.rate, RATE);
		});

		it("reads a long file only as it plays, and stops on request", async (t) => {
			let sent = 0;
			const piece = Buffer.alloc(64_000, 1);
			const url = await serve(t, (request, response) => {
				const head = wavFile([], { sampleRate: RATE });
				new DataView(head.buffer).setUint32(40, 1_000_000_000, true);
				response.write(head);
				const send = (): void => {
					sent += piece.byteLength;
					if (response.write(piece)) {
						setImmediate(send);
					}
				};
				response.on("drain", send);
				request.on("close", () => response.removeAllListeners("drain"));
				send();
			});
			const { device, connection, sound } = await connect(t);
			const before = await device.heap();
			const playing = callTool(connection, "self.audio_speaker.play", { url }, PATIENT);
			await until(() => sound.samples().length > RATE, "a second was played");
			const heap = await device.heap();
			if (heap !== undefined && before !== undefined) {
				// The firmware itself is in the heap, too, and grows.
				const growth = heap.peakChunkBytes - before.peakChunkBytes;
				assert.ok(growth < 100_000, `${growth} more bytes of chunks`);
			}
			// How much was sent depends on the kernel's buffers; once they are full, nothing more is.
			let [played, sentBefore] = [0, -1];
			const isHeldBack = (): boolean => {
				if (sound.samples().length - played < RATE / 4) {
					return false;
				}
				const isStill = sent === sentBefore;
				[played, sentBefore] = [sound.samples().length, sent];
				return isStill;
			};
			await until(isHeldBack, "nothing was sent for a quarter of a second of sound");
			await callTool(connection, "self.audio_speaker.stop");
			const { isError, content } = await playing;
			assert.match(JSON.stringify({ isError, content }), /"isError":true.*the sound was stopped/);
		});
	});
}
