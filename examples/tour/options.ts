import { InvalidArgumentError, Option } from "commander";
import { makeProgram, readPort } from "xs-mcp/build/program";

export type Transport = "websocket" | "mqtt";

export interface TourOptions {
	/** Whether it ends after the tour. */
	readonly once?: boolean;
	/** How the device connects. */
	readonly transport: Transport;
	readonly broker?: string;
	/** Port for devices. Default: the usual one, or a free one if that is in use. */
	readonly port?: number;
	/** Port for clients, with the same default. */
	readonly httpPort?: number;
	readonly engine: "xs" | "v8";
	readonly verbose?: boolean;
	/** Manifest of a custom build. */
	readonly manifest?: string;
	/** The gateway's setting: with it, clients may listen. */
	readonly transcriptionCommand?: string;
}

const EPILOGUE = `
Commands for the prompt may also come through a pipe: echo "list" | npm start`;

/** `npm start`, which hands what it has understood to `run`. */
export function tourProgram(run: (options: TourOptions) => Promise<void>) {
	const program = makeProgram(
		"npm start --",
		"Starts a gateway and a virtual device on loopback: a tour, then a URL for MCP clients, and a prompt.",
	);
	return program
		.option("--once", "exit after the tour")
		.addOption(
			new Option("--transport <name>", "how the device connects").choices(["websocket", "mqtt"]).default("websocket"),
		)
		.option("--broker <url>", "MQTT: connect through this broker (default: the gateway's own)", readBroker)
		.option("--port <number>", "where devices connect (default: 8765, or 1883 for MQTT, or a free port)", readPort)
		.option("--http-port <number>", "where MCP clients connect (default: 8766, or a free port)", readPort)
		.addOption(
			new Option("--engine <name>", "what runs the firmware; v8 where XS cannot be built")
				.choices(["xs", "v8"])
				.default("xs"),
		)
		.option("--manifest <file>", "run a build of your own, such as one with a device: its manifest.json")
		.option(
			"--transcription-command <command>",
			"program that turns speech into text: clients may listen (docs/talk.md)",
		)
		.option("--verbose", "show the device's log")
		.addHelpText("after", EPILOGUE)
		.action(async (options: TourOptions) => {
			if (options.broker !== undefined && options.transport !== "mqtt") {
				program.error("error: --broker needs --transport mqtt");
			}
			await run(options);
		});
}

function readBroker(text: string): string {
	if (!/^mqtts?:$/.test(URL.canParse(text) ? new URL(text).protocol : "")) {
		throw new InvalidArgumentError("Expected a URL like mqtt://127.0.0.1:1883.");
	}
	return text;
}
