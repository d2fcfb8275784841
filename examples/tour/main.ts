// npm start: a gateway and virtual devices, a tour as an MCP host takes it, and what to paste into a host of one's own.
import { once } from "node:events";
import { GatewayClient } from "../../gateway/src/cli/gateway-client.js";
import type { Device, KnownDevice } from "../../gateway/src/index.js";
import { bundle, chooseEngine, VirtualDevice } from "../../virtual-device/src/index.js";
import { showSnippets } from "./host-snippets.js";
import { readOptions, type Transport } from "./options.js";
import { event, heading, line, paint } from "./output.js";
import { prompt } from "./prompt.js";
import { startGateway } from "./start-gateway.js";
import { showEvents, tour } from "./tour.js";

/** Milliseconds for a virtual device to connect and be known. */
const CONNECT_TIMEOUT = 20_000;

/** The same at every start, so that hosts find the tools they know. */
const MAC_ADDRESSES: Readonly<Record<Transport, string>> = {
	websocket: "02:00:00:00:00:01",
	mqtt: "02:00:00:00:00:02",
};

const options = readOptions();
const engine = await chooseEngine(options.engine, { onProgress: console.log });
const firmware = await bundle();
const virtuals: VirtualDevice[] = [];
const end = new AbortController();
let failed = false;

const gateway = await startGateway(options).catch((error: Error) => {
	console.error(paint("red", error.message));
	process.exit(1);
});
const { devices } = gateway.program.gateway;
const hosts = new GatewayClient({ url: gateway.hostUrl });

/** A virtual device; settles when hosts can call it. */
async function connect(transport: Transport): Promise<{ known: KnownDevice; device: Device }> {
	const macAddress = MAC_ADDRESSES[transport];
	const virtual = new VirtualDevice({
		firmware,
		startEngine: (onTrace) => engine.start({ onTrace }),
		config: { backend: gateway.deviceUrls[transport] },
		macAddress,
		watchdog: true,
	});
	virtuals.push(virtual);
	virtual.on("trace", (text) => options.verbose && line(paint("dim", `device: ${text}`)));
	virtual.on("note", (text) => event(text));
	virtual.on("exit", ({ code, detail }) => {
		failed = true;
		line(paint("red", `the device's engine ended: ${code}: ${detail}`));
	});
	await virtual.start();
	return await available(macAddress, AbortSignal.timeout(CONNECT_TIMEOUT));
}

async function available(id: string, signal: AbortSignal): Promise<{ known: KnownDevice; device: Device }> {
	for (;;) {
		const known = devices.all.find((each) => each.id === id);
		if (known?.device !== undefined) {
			return { known, device: known.device };
		}
		await once(devices, "available", { signal }).catch((cause) => {
			throw new Error(`no device came within ${CONNECT_TIMEOUT} ms`, { cause });
		});
	}
}

async function show(transport: Transport): Promise<void> {
	const { known, device } = await connect(transport);
	heading(`xs-mcp over ${transport}`);
	line(`engine  ${paint("green", virtuals[0]?.engineName ?? "")}`);
	if (engine.whyNotXs !== undefined) {
		line(paint("yellow", `This is not XS: ${engine.whyNotXs.split("\n")[0]}`));
	}
	line(`gateway ${gateway.deviceUrls[transport]} for devices, ${gateway.hostUrl} for hosts`);
	showEvents(device, end.signal);
	const host = await hosts.connect(known.alias);
	try {
		await tour(host, known, device);
	} finally {
		await host.close();
	}
}

/** Until the person quits, or the process is told to end. */
async function stay(): Promise<void> {
	showSnippets(gateway.hostUrl);
	devices.on("available", ({ alias, device }) => {
		event(`device ${alias} is back, session ${device?.sessionId}`);
		if (device !== undefined) {
			showEvents(device, end.signal);
		}
	});
	const stopped = new Promise((resolve) => {
		process.once("SIGINT", resolve);
		process.once("SIGTERM", resolve);
	});
	if (!process.stdin.isTTY) {
		line("Runs until it is stopped.");
		await stopped;
		return;
	}
	const host = await hosts.connect();
	await Promise.race([prompt(host), stopped]);
	await host.close();
}

try {
	for (const transport of options.transports) {
		await show(transport);
	}
	if (!options.once) {
		await stay();
	}
} catch (error) {
	failed = true;
	console.error(paint("red", (error as Error).message));
}
end.abort();
for (const virtual of virtuals) {
	virtual.stop();
}
await gateway.close();
// A prompt that was left by a signal still waits for a line.
process.exit(failed ? 1 : 0);
