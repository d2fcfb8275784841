import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import { knownDevices, type RunningGateway, untilKnown } from "../../host-test/e2e/gateway-process.js";
import { speak } from "../../host-test/support/speak.js";
import { bundle, chooseEngine, VirtualDevice } from "../../virtual-device/src/index.js";
import { tokenOf } from "./light-device.js";
import { Samples } from "./samples.js";

const ROUNDS = 20;

/** Milliseconds between two rounds, and for which a button is down. */
const PAUSE = 500;
const PRESS = 100;

/** The delays at a virtual device on XS: the first sound of a text, and the first packet of the microphone after a press. */
export async function timeVoice(
	gateway: RunningGateway,
	id: string,
	client: Client,
): Promise<readonly [string, string][]> {
	const count = (await knownDevices(gateway)).length;
	const engine = await chooseEngine("xs");
	const device = new VirtualDevice({
		firmware: await bundle(),
		startEngine: (onTrace) => engine.start({ onTrace }),
		config: { backend: gateway.deviceUrl, token: tokenOf(id) },
		macAddress: id,
		board: { name: "virtual", parts: ["codec"], buttons: ["boot"], lights: [], sensors: [] },
	});
	const [sound, packet] = [new Samples(), new Samples()];
	device.hear(speak("Hello."));
	try {
		await device.start();
		await untilKnown(gateway, count + 1);
		const alias = (await knownDevices(gateway)).find((known) => known.id === id)?.alias;
		const say = (text: string) => client.callTool({ name: "say", arguments: { text, devices: [alias] } });
		assert.notEqual((await say("Hello.")).isError, true);
		for (let round = 0; round < ROUNDS; round += 1) {
			const begun = once(device, "samples");
			const saying = say(`Number ${round}.`);
			await sound.time(async () => void (await begun));
			await saying;
			await delay(PAUSE);
			const recorded = firstPacket(device);
			void device.press(PRESS);
			await packet.time(() => recorded);
			await delay(PAUSE);
			await device.press(PRESS);
		}
	} finally {
		await device.stop();
	}
	return [
		["text to first sound, virtual device: p50 / p99", `${sound.describe(0)} ms`],
		[`press of ${PRESS} ms to first packet of its microphone: p50 / p99`, `${packet.describe(0)} ms`],
	];
}

/** Resolves when the device sends its backend a packet of Opus. */
function firstPacket(device: VirtualDevice): Promise<void> {
	return new Promise((resolve) => {
		device.on("message", function onMessage({ from, bytes }) {
			if (from === "device" && bytes[0] !== "{".charCodeAt(0)) {
				device.off("message", onMessage);
				resolve();
			}
		});
	});
}
