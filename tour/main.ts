import { parseArgs } from "node:util";
import { DeviceHub, WebSocketDevices } from "../gateway/src/index.js";
import { bundle, chooseEngine, VirtualDevice } from "../virtual-device/src/index.js";
import { event, heading, line, paint } from "./output.js";
import { prompt } from "./prompt.js";
import { showEvents, tour } from "./tour.js";

const HELP = `A backend on loopback and a virtual device, from handshake to called tools.

  npm start [-- options]

  --once           the tour, then exit; so it is without a terminal
  --engine xs|v8   what runs the firmware (default: xs, or v8 where XS cannot be built)
  --port N         where the backend listens (default: 8765, or a free port when that is taken)
  --verbose        shows the device's log
  --help
`;

const DEFAULT_PORT = 8765;
const CONNECT_TIMEOUT = 20_000;

const { values } = parseArgs({
	options: {
		once: { type: "boolean", default: false },
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
if (values.engine !== "xs" && values.engine !== "v8") {
	console.error(`npm start: --engine: expected xs or v8, got ${values.engine}`);
	process.exit(2);
}

/** On the port asked for, or, when none was and the default is taken, on a free one. */
async function listen(hub: DeviceHub): Promise<{ devices: WebSocketDevices; port: number }> {
	for (const port of values.port === undefined ? [DEFAULT_PORT, 0] : [Number(values.port)]) {
		const devices = new WebSocketDevices(hub, { port });
		try {
			return { devices, port: await devices.listen() };
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || values.port !== undefined) {
				throw error;
			}
		}
	}
	throw new Error("no free port");
}

async function withTimeout<T>(promise: Promise<T>, what: string): Promise<T> {
	const timeout = new Promise<never>((_, reject) => {
		setTimeout(() => reject(new Error(`${what} within ${CONNECT_TIMEOUT} ms`)), CONNECT_TIMEOUT).unref();
	});
	return await Promise.race([promise, timeout]);
}

const engine = await chooseEngine(values.engine, { onProgress: console.log });
const hub = new DeviceHub();
hub.on("refused", (description) => line(paint("yellow", description)));
const { devices, port } = await listen(hub);
const backend = `ws://127.0.0.1:${port}/`;

const virtual = new VirtualDevice({
	firmware: await bundle(),
	startEngine: (onTrace) => engine.start({ onTrace }),
	config: { backend },
	watchdog: true,
});
let failed = false;
virtual.on("trace", (text) => values.verbose && line(paint("dim", `device: ${text}`)));
virtual.on("note", (text) => event(text));
virtual.on("exit", ({ code, detail }) => {
	failed = true;
	line(paint("red", `the device's engine ended: ${code}: ${detail}`));
});

try {
	const connected = hub.next();
	await virtual.start();
	heading("xs-mcp");
	line(`engine  ${paint("green", virtual.engineName)}`);
	if (engine.whyNotXs !== undefined) {
		line(paint("yellow", `This is not XS: ${engine.whyNotXs.split("\n")[0]}`));
	}
	line(`backend ${backend}`);
	const device = await withTimeout(connected, "no device connected");
	showEvents(device);
	await tour(device);
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
virtual.stop();
hub.close();
await devices.close();
process.exitCode = failed ? 1 : 0;
