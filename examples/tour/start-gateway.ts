import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import getPort from "get-port";
import { GatewayProgram, makeLog, readConfiguration } from "../../gateway/src/index.js";
import { bundleConsole } from "../../scripts/page-bundles.js";
import type { TourOptions, Transport } from "./options.js";

/** The usual ports, used where they are free. */
export const HTTP_PORT = 8766;
const DEVICE_PORTS: Readonly<Record<Transport, number>> = { websocket: 8765, mqtt: 1883 };

/** The gateway of the tour, where clients and devices find it. */
export interface TourGateway {
	readonly program: GatewayProgram;
	readonly clientUrl: string;
	readonly deviceUrl: string;
	close(): Promise<void>;
}

/** Starts a gateway that remembers nothing of an earlier one and shows every client everything: it is for trying. */
export async function startGateway(options: TourOptions): Promise<TourGateway> {
	const { transport, broker } = options;
	const stateFolder = await mkdtemp(join(tmpdir(), "xs-mcp-"));
	const removeFolder = (): void => rmSync(stateFolder, { recursive: true, force: true });
	// The process may also end by an error, or because nobody reads its output.
	process.once("exit", removeFolder);
	const configuration = readConfiguration({
		flags: {
			httpPort: options.httpPort ?? (await usualPort(HTTP_PORT)),
			websocket: transport === "websocket",
			mqtt: transport === "mqtt" && broker === undefined,
			[`${transport}Port`]: options.devicePort ?? (await usualPort(DEVICE_PORTS[transport])),
			...(broker !== undefined && { brokerUrl: broker }),
			stateFolder,
			userTools: "*",
			logLevel: "warn",
		},
	});
	const consoleFolder = await bundleConsole();
	const program = await GatewayProgram.start(configuration, makeLog(configuration.logLevel), { consoleFolder });
	const { clients = "" } = program.urls;
	return {
		program,
		clientUrl: clients,
		deviceUrl: broker ?? program.urls[transport] ?? "",
		async close() {
			await program.close();
			removeFolder();
			process.off("exit", removeFolder);
		},
	};
}

/** The port, or another one where somebody has it. */
async function usualPort(port: number): Promise<number> {
	return await getPort({ port, host: "127.0.0.1" });
}
