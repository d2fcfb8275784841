import assert from "node:assert/strict";
import { once, setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import { WebSocket } from "ws";
import { connectOverHttp } from "../../host-test/e2e/clients.js";
import { knownDevices, type RunningGateway, untilKnown } from "../../host-test/e2e/gateway-process.js";
import { temporaryFolder } from "../../host-test/support/temporary-folder.js";
import { until } from "../../host-test/support/until.js";
import type { Report } from "../report.js";
import { timeVoice } from "./device-voice.js";
import { tokenOf } from "./light-device.js";
import { startBoundGateway, startLightDevices } from "./light-fleet.js";
import { Samples } from "./samples.js";

/** Devices, and those of them that speak. */
const DEVICES = 1_000;
const SPEAKING = 20;

/** A virtual device. */
const VIRTUAL = "02:00:00:ff:ff:01";

/** Milliseconds of a packet. */
const PACKET = 60;

/** Milliseconds of rest, and for memory to settle. */
const REST = 10_000;

/** About ten seconds of speech, which no device has said before. */
const textFor = (name: string): string =>
	`${name}. The quick brown fox jumps over the lazy dog, and the five boxing wizards jump quickly. Please water the plants ` +
	"in the kitchen, close all windows, and switch off the lights before you leave the house.";

/** A device of the family, which plays packets of Opus, and remembers when it got them. */
class SpeakingDevice {
	readonly id: string;
	/** When the first packet of an announcement came, and its `stop`: by performance.now(). */
	first = 0;
	stopped = 0;
	packets = 0;
	readonly #socket: WebSocket;

	private constructor(id: string, socket: WebSocket) {
		this.id = id;
		this.#socket = socket;
		socket.on("message", (data: Buffer, isBinary) => {
			if (isBinary) {
				this.packets += 1;
				this.first ||= performance.now();
			} else {
				this.#receive(JSON.parse(data.toString()));
			}
		});
	}

	static async connect(url: string, id: string): Promise<SpeakingDevice> {
		const headers = { authorization: `Bearer ${tokenOf(id)}`, "device-id": id, "client-id": id };
		const socket = new WebSocket(url, { headers, perMessageDeflate: false });
		const device = new SpeakingDevice(id, socket);
		await once(socket, "open");
		const audio_params = { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: PACKET };
		device.#say({ type: "hello", version: 1, features: { mcp: true }, transport: "websocket", audio_params });
		return device;
	}

	forget(): void {
		[this.first, this.stopped, this.packets] = [0, 0, 0];
	}

	close(): void {
		this.#socket.terminate();
	}

	#say(message: object): void {
		this.#socket.send(JSON.stringify({ session_id: "", ...message }));
	}

	#receive({
		type,
		state,
		payload,
	}: {
		type: string;
		state?: string;
		payload?: { id?: number; method: string };
	}): void {
		if (type === "tts" && state === "stop") {
			this.stopped ||= performance.now();
			this.#say({ type: "listen", state: "start", mode: "auto" });
		} else if (type === "mcp" && payload?.id !== undefined) {
			const serverInfo = { name: "radio", version: "2.0.3" };
			const results: Record<string, object> = {
				initialize: { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo },
				"tools/list": { tools: [] },
			};
			const result = results[payload.method] ?? {};
			this.#say({ type: "mcp", payload: { jsonrpc: "2.0", id: payload.id, result } });
		}
	}
}

/** The cost of speech for a gateway, and how soon it is heard and ends. */
export async function benchSpeech({ say, row, header }: Report): Promise<void> {
	const ids = Array.from({ length: SPEAKING }, (_, at) => `02:00:00:ff:00:${at.toString(16).padStart(2, "0")}`);
	const flags = ["--speech-command", "espeak-ng --stdout -v {voice}", "--max-devices", String(DEVICES + 1)];
	const gateway = await startBoundGateway(temporaryFolder(), DEVICES - SPEAKING, [...ids, VIRTUAL], ...flags);
	const light = await startLightDevices(gateway.deviceUrl, DEVICES - SPEAKING);
	const devices = await Promise.all(ids.map((id) => SpeakingDevice.connect(gateway.deviceUrl, id)));
	try {
		await untilKnown(gateway, DEVICES);
		await delay(REST);
		const client = await connectOverHttp(`${gateway.base}/mcp`, "2026-07-28", gateway.token);
		const results = [...(await measure(gateway, client, devices)), ...(await timeVoice(gateway, VIRTUAL, client))];
		await client.close();
		say("## Speech");
		say();
		header(`${DEVICES} devices; ${SPEAKING} of them speak`, "measured");
		for (const [name, value] of results) {
			row(name, value);
		}
		say();
		say(
			"The voice is espeak-ng, whose CPU is not counted. The devices are sockets that get packets of Opus, as those of the",
		);
		say(
			"xiaozhi family; gateway, voice and devices share the machine's cores. A device has 180 ms that it may play after `stop`.",
		);
	} finally {
		for (const device of devices) {
			device.close();
		}
		await light.stop();
		await gateway.program.stop();
	}
}

async function measure(
	gateway: RunningGateway,
	client: Client,
	devices: readonly SpeakingDevice[],
): Promise<readonly [string, string][]> {
	const { program } = gateway;
	const known = await knownDevices(gateway);
	const aliasOf = (id: string): string => known.find((device) => device.id === id)?.alias as string;
	const speak = async (turn: string, signal?: AbortSignal): Promise<unknown> =>
		await Promise.all(
			devices.map(async ({ id }, at) => {
				const args = { text: textFor(`${turn} ${at}`), devices: [aliasOf(id)] };
				return await client.callTool({ name: "say", arguments: args }, signal && { signal });
			}),
		);
	/** Milliseconds from a moment until something has come to each device. */
	const since = (begin: number, what: "first" | "stopped"): Samples => {
		const samples = new Samples();
		for (const device of devices) {
			samples.add(device[what] - begin);
		}
		return samples;
	};
	const atRest = await shareOfCore(program, () => delay(REST));
	const memory = program.residentBytes;
	const one = devices[0] as SpeakingDevice;
	const alone = performance.now();
	await client.callTool({ name: "say", arguments: { text: textFor("One"), devices: [aliasOf(one.id)] } });
	const aloneFirst = one.first - alone;
	one.forget();
	const begin = performance.now();
	const share = await shareOfCore(program, () => speak("Number"));
	const first = since(begin, "first");
	const packets = devices.reduce((sum, device) => sum + device.packets, 0);
	const speaking = program.residentBytes;
	for (const device of devices) {
		device.forget();
	}
	const cancel = new AbortController();
	// The SDK's client listens once for each call.
	setMaxListeners(SPEAKING, cancel.signal);
	// The gateway has kept the sound of these texts: all begin at the same time.
	const saying = assert.rejects(speak("Number", cancel.signal));
	await until(() => devices.every(({ first }) => first > 0), "all speak");
	const cancelled = performance.now();
	cancel.abort();
	await saying;
	await delay(REST / 10);
	const stopped = since(cancelled, "stopped");
	return [
		["text to first packet, one device", `${aloneFirst.toFixed(0)} ms`],
		["… 20 texts at the same time: p50 / p99", `${first.describe(0)} ms`],
		["cancel to `stop`, 20 at the same time: p50 / p99", `${stopped.describe(0)} ms`],
		["seconds of speech, each device", ((packets * PACKET) / SPEAKING / 1_000).toFixed(1)],
		["gateway's CPU at rest", `${(100 * atRest).toFixed(1)} % of a core`],
		["… while 20 speak, encoding included", `${(100 * share).toFixed(1)} % of a core`],
		["gateway's memory at rest", megabytes(memory)],
		["… after they have spoken", megabytes(speaking)],
	];
}

async function shareOfCore(program: RunningGateway["program"], run: () => Promise<unknown>): Promise<number> {
	const [cpu, begin] = [program.cpuTime, performance.now()];
	await run();
	return (program.cpuTime - cpu) / (performance.now() - begin);
}

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MB`;
