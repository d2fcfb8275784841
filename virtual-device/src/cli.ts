import { parseArgs } from "node:util";
import type { EngineExit, HeapReport } from "./engine/engine.js";
import { bundle, chooseEngine, VirtualDevice } from "./index.js";

const HELP = `One virtual device: the firmware on the XS engine, against any backend.

  npm run device -- --url URL [options]

  --url URL             the backend: ws://…, wss://…, mqtt://… or mqtts://…
  --token TOKEN         WebSocket: bearer token, if the backend asks for one
  --set NAME=VALUE      another setting of the firmware, as often as needed: clientId, mqttUsername,
                        mqttPassword, publishTopic, subscribeTopic, keepAlive, qos, transport, protocolVersion
  --mac ADDRESS         the device's id, like 02:12:34:56:78:9a (default: random)
  --settings FILE       keeps volume, brightness, UUID … over restarts (default: memory only)
  --engine xs|v8        default: xs
  --bits 64|32          size of the XS machine; 32 has slots as an ESP32 has them
  --slots N             heap limit: slots, built-ins included
  --chunk-bytes N       heap limit: bytes for strings, buffers and byte code
  --heap                reports the heap every 10 seconds
  --restart             starts the device again when its engine ends, as a watchdog would
  --help
`;

const { values } = parseArgs({
	options: {
		url: { type: "string" },
		token: { type: "string", default: "" },
		set: { type: "string", multiple: true, default: [] },
		mac: { type: "string" },
		settings: { type: "string" },
		engine: { type: "string", default: "xs" },
		bits: { type: "string", default: "64" },
		slots: { type: "string" },
		"chunk-bytes": { type: "string" },
		heap: { type: "boolean", default: false },
		restart: { type: "boolean", default: false },
		help: { type: "boolean", default: false },
	},
});

if (values.help || values.url === undefined) {
	process.stdout.write(HELP);
	process.exit(values.help ? 0 : 2);
}

function fail(message: string): never {
	console.error(`npm run device: ${message}`);
	process.exit(2);
}

function positiveInteger(flag: string, text: string | undefined): number | undefined {
	if (text !== undefined && !/^[1-9][0-9]{0,8}$/.test(text)) {
		fail(`--${flag}: expected a whole number, got ${text}`);
	}
	return text === undefined ? undefined : Number(text);
}

/** NAME=VALUE pairs, as mcconfig takes them. */
function parseSettings(pairs: readonly string[]): Record<string, string> {
	return Object.fromEntries(
		pairs.map((pair) => {
			const at = pair.indexOf("=");
			return at > 0 ? [pair.slice(0, at), pair.slice(at + 1)] : fail(`--set: expected NAME=VALUE, got ${pair}`);
		}),
	);
}

function describeHeap({ slots, peakSlots, chunkBytes, peakChunkBytes, slotBytes }: HeapReport): string {
	return `heap: ${slots} slots of ${slotBytes} bytes (peak ${peakSlots}), ${chunkBytes} chunk bytes (peak ${peakChunkBytes})`;
}

if (values.engine !== "xs" && values.engine !== "v8") {
	fail(`--engine: expected xs or v8, got ${values.engine}`);
}
if (values.bits !== "64" && values.bits !== "32") {
	fail(`--bits: expected 64 or 32, got ${values.bits}`);
}
if (values.mac !== undefined && !/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(values.mac)) {
	fail(`--mac: expected six lower-case pairs with colons, got ${values.mac}`);
}

const slots = positiveInteger("slots", values.slots);
const chunkBytes = positiveInteger("chunk-bytes", values["chunk-bytes"]);
const limits = { ...(slots && { slots }), ...(chunkBytes && { chunkBytes }) };
const engine = await chooseEngine(values.engine, { bits: values.bits === "32" ? 32 : 64, onProgress: console.error });

const device = new VirtualDevice({
	firmware: await bundle(),
	startEngine: (onTrace) => engine.start({ onTrace, limits }),
	config: { ...parseSettings(values.set), backend: values.url, token: values.token },
	watchdog: values.restart,
	...(values.mac !== undefined && { macAddress: values.mac }),
	...(values.settings !== undefined && { settingsFile: values.settings }),
});

device.on("trace", (line) => console.log(line));
device.on("note", (text) => console.log(text));
device.on("restarted", () => console.log(`restarted on ${device.engineName}`));
device.on("exit", (exit: EngineExit) => {
	console.error(`the engine ended: ${exit.code}: ${exit.detail}`);
	if (!values.restart) {
		process.exit(1);
	}
});
for (const signal of ["SIGINT", "SIGTERM"] as const) {
	process.on(signal, () => {
		device.stop();
		process.exit(0);
	});
}

try {
	await device.start();
	const why = engine.whyNotXs === undefined ? "" : ` (not XS: ${engine.whyNotXs})`;
	console.log(`device ${device.macAddress} on ${device.engineName}${why}`);
} catch {
	// The engine ended as it booted: the exit event has said why.
}

if (values.heap) {
	setInterval(async () => {
		const heap = await device.heap().catch(() => undefined);
		if (heap !== undefined) {
			console.log(describeHeap(heap));
		}
	}, 10_000);
}
