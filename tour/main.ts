import { parseArgs } from "node:util";
import { type Device, DeviceHub } from "../gateway/src/index.js";
import { bundle, chooseEngine, VirtualDevice } from "../virtual-device/src/index.js";
import { type Backend, listenForMqtt, listenForWebSockets } from "./backend.js";
import { event, heading, line, paint } from "./output.js";
import { prompt } from "./prompt.js";
import { showEvents, tour } from "./tour.js";

const HELP = `A backend on loopback and virtual devices, from handshake to called tools.

  npm start [-- options]

  --once                      the tour, then exit; so it is without a terminal
  --transport websocket|mqtt  one of the two (default: a device over each)
  --broker URL                MQTT through another's broker, like mqtt://127.0.0.1:1883 (default: one of our own)
  --port N                    where the backend listens, with --transport (default: 8765 or 1883, or a free port)
  --engine xs|v8              what runs the firmware (default: xs, or v8 where XS cannot be built)
  --verbose                   shows the devices' logs
  --help
`;

const CONNECT_TIMEOUT = 20_000;

function fail(message: string): never {
	console.error(`npm start: ${message}`);
	process.exit(2);
}

const { values } = parseArgs({
	options: {
		once: { type: "boolean", default: false },
		transport: { type: "string" },
		broker: { type: "string" },
		engine: { type: "string", default: "xs" },
		port: { type: "string" },
		verbose: { type: "boolean", default: false },
		help: { type: "boolean", default: false },
	},
});

if (values.help) {
	process.stdout.write(HELP);
	process.exit(0);
}
const { engine: kind, transport, port } = values;
if (kind !== "xs" && kind !== "v8") {
	fail(`--engine: expected xs or v8, got ${kind}`);
}
if (transport !== undefined && transport !== "websocket" && transport !== "mqtt") {
	fail(`--transport: expected websocket or mqtt, got ${transport}`);
}
if (port !== undefined && (transport === undefined || !/^[0-9]{1,5}$/.test(port) || Number(port) > 65_535)) {
	fail(`--port: expected a port from 0 to 65535, together with --transport, got ${port}`);
}

const engine = await chooseEngine(kind, { onProgress: console.log });
const firmware = await bundle();
const hub = new DeviceHub();
const virtuals: VirtualDevice[] = [];
const backends: Backend[] = [];
let failed = false;

/** A virtual device for a backend; settles when its session has begun. */
async function connect({ url }: Backend): Promise<Device> {
	const virtual = new VirtualDevice({
		firmware,
		startEngine: (onTrace) => engine.start({ onTrace }),
		config: { backend: url },
		watchdog: true,
	});
	virtuals.push(virtual);
	virtual.on("trace", (text) => values.verbose && line(paint("dim", `device: ${text}`)));
	virtual.on("note", (text) => event(text));
	virtual.on("exit", ({ code, detail }) => {
		failed = true;
		line(paint("red", `the device's engine ended: ${code}: ${detail}`));
	});
	const connected = hub.next();
	await virtual.start();
	return await withTimeout(connected, `no device connected to ${url}`);
}

async function withTimeout<T>(promise: Promise<T>, what: string): Promise<T> {
	const timeout = new Promise<never>((_, reject) => {
		setTimeout(() => reject(new Error(`${what} within ${CONNECT_TIMEOUT} ms`)), CONNECT_TIMEOUT).unref();
	});
	return await Promise.race([promise, timeout]);
}

async function open(): Promise<void> {
	const asked = port === undefined ? undefined : Number(port);
	if (transport !== "mqtt") {
		backends.push(await listenForWebSockets(hub, asked));
	}
	if (transport !== "websocket") {
		backends.push(await listenForMqtt(hub, values.broker, asked));
	}
}

try {
	hub.on("refused", (description) => line(paint("yellow", description)));
	await open();
	for (const backend of backends) {
		const device = await connect(backend);
		heading(`xs-mcp over ${device.identity.transport}`);
		line(`engine  ${paint("green", virtuals[0]?.engineName ?? "")}`);
		if (engine.whyNotXs !== undefined) {
			line(paint("yellow", `This is not XS: ${engine.whyNotXs.split("\n")[0]}`));
		}
		line(`backend ${backend.url}`);
		showEvents(device);
		await tour(device);
	}
	if (!values.once && process.stdin.isTTY) {
		hub.on("connected", (again) => {
			event(`device ${again.identity.deviceId} is back, session ${again.sessionId}`);
			showEvents(again);
		});
		await prompt(hub);
	}
} catch (error) {
	failed = true;
	console.error(paint("red", (error as Error).message));
}
hub.removeAllListeners();
for (const virtual of virtuals) {
	virtual.stop();
}
hub.close();
await Promise.all(backends.map((backend) => backend.close()));
process.exitCode = failed ? 1 : 0;
