import { parseArgs } from "node:util";

const HELP = `A gateway and virtual devices on loopback: a tour, then a URL for MCP hosts, and a prompt of your own.

  npm start [-- options]

  --once                      the tour, then exit
  --transport websocket|mqtt  how the device connects (default: a device over each)
  --broker URL                MQTT through another's broker, like mqtt://127.0.0.1:1883 (default: one of our own)
  --port N                    where devices come in, with --transport (default: 8765 or 1883, or a free port)
  --http-port N               where MCP hosts come in (default: 8766, or a free port)
  --engine xs|v8              what runs the firmware (default: xs, or v8 where XS cannot be built)
  --verbose                   shows the devices' logs
  --help
`;

export type Transport = "websocket" | "mqtt";

export interface TourOptions {
	readonly once: boolean;
	/** How devices connect; one after the other. */
	readonly transports: readonly Transport[];
	readonly broker: string | undefined;
	/** Undefined: the usual one, or a free one where that is taken. */
	readonly devicePort: number | undefined;
	readonly httpPort: number | undefined;
	readonly engine: "xs" | "v8";
	readonly verbose: boolean;
}

/** Reads the command line. What cannot be used ends the process with 2, `--help` with 0. */
export function readOptions(): TourOptions {
	const { values } = parse();
	if (values.help) {
		process.stdout.write(HELP);
		process.exit(0);
	}
	const { engine, transport, broker } = values;
	if (engine !== "xs" && engine !== "v8") {
		fail(`--engine: expected xs or v8, got ${engine}`);
	}
	if (transport !== undefined && transport !== "websocket" && transport !== "mqtt") {
		fail(`--transport: expected websocket or mqtt, got ${transport}`);
	}
	if (values.port !== undefined && transport === undefined) {
		fail("--port: only together with --transport, since each transport has a port of its own");
	}
	return {
		once: values.once,
		transports: transport === undefined ? ["websocket", "mqtt"] : [transport],
		broker,
		devicePort: readPort("--port", values.port),
		httpPort: readPort("--http-port", values["http-port"]),
		engine,
		verbose: values.verbose,
	};
}

function parse() {
	try {
		return parseArgs({
			options: {
				once: { type: "boolean", default: false },
				transport: { type: "string" },
				broker: { type: "string" },
				engine: { type: "string", default: "xs" },
				port: { type: "string" },
				"http-port": { type: "string" },
				verbose: { type: "boolean", default: false },
				help: { type: "boolean", default: false },
			},
		});
	} catch (error) {
		fail((error as Error).message);
	}
}

function readPort(name: string, text: string | undefined): number | undefined {
	if (text !== undefined && (!/^[0-9]{1,5}$/.test(text) || Number(text) > 65_535)) {
		fail(`${name}: expected a port from 0 to 65535, got ${text}`);
	}
	return text === undefined ? undefined : Number(text);
}

function fail(message: string): never {
	console.error(`npm start: ${message}`);
	process.exit(2);
}
