import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import getPort from "get-port";
import { bundleConsole } from "xs-mcp/build/page-bundles";
import { type Configuration, createGateway, makeLog, type RunningGateway, readConfiguration } from "xs-mcp-gateway";
import type { TourOptions, Transport } from "./options.js";

/** The usual ports, used where they are free. */
export const HTTP_PORT = 8766;
const DEVICE_PORTS: Readonly<Record<Transport, number>> = { websocket: 8765, mqtt: 1883 };

/** The gateway of the tour, where clients and devices find it. */
export interface TourGateway {
	readonly gateway: RunningGateway;
	readonly clientUrl: string;
	readonly deviceUrl: string;
	close(): Promise<void>;
}

/** Starts a gateway that remembers nothing of an earlier one and shows every client everything: it is for trying. */
export async function startGateway(options: TourOptions): Promise<TourGateway> {
	const stateFolder = await mkdtemp(join(tmpdir(), "xs-mcp-"));
	const removeFolder = (): void => rmSync(stateFolder, { recursive: true, force: true });
	// The process may also end by an error, or because nobody reads its output.
	process.once("exit", removeFolder);
	const consoleFolder = await bundleConsole();
	const start = async (ports: Ports): Promise<RunningGateway> => {
		const settings = configure(options, stateFolder, ports);
		return await createGateway({ settings, log: makeLog(settings.logLevel), consoleFolder });
	};
	// The usual ports, or free ones.
	const [http = 0, device = 0] = await Promise.all(
		[HTTP_PORT, DEVICE_PORTS[options.transport]].map((port) => getPort({ port, host: "127.0.0.1" })),
	);
	// Another tour that starts at this moment may take the same ports.
	const gateway = await start({ http, device }).catch(() => start({ http: 0, device: 0 }));
	const { clients = "" } = gateway.urls;
	return {
		gateway,
		clientUrl: clients,
		deviceUrl: options.broker ?? gateway.urls[options.transport] ?? "",
		async close() {
			await gateway.close();
			removeFolder();
			process.off("exit", removeFolder);
		},
	};
}

/** The gateway's setting `speechCommand` for espeak-ng, if this computer has it. */
export function findVoice(): string | undefined {
	const { status } = spawnSync("espeak-ng", ["--version"], { stdio: "ignore" });
	return status === 0 ? "espeak-ng --stdout -v {voice}" : undefined;
}

/** For MCP clients and for devices, unless the options name them; 0 for a free one. */
interface Ports {
	readonly http: number;
	readonly device: number;
}

function configure(
	{ transport, broker, httpPort, port, transcriptionCommand }: TourOptions,
	stateFolder: string,
	ports: Ports,
): Configuration {
	const speechCommand = findVoice();
	return readConfiguration({
		flags: {
			httpPort: httpPort ?? ports.http,
			websocket: transport === "websocket",
			mqtt: transport === "mqtt" && broker === undefined,
			[`${transport}Port`]: port ?? ports.device,
			...(broker !== undefined && { brokerUrl: broker }),
			udpPort: 0,
			...(speechCommand !== undefined && { speechCommand }),
			...(transcriptionCommand !== undefined && { transcriptionCommand, microphones: true }),
			stateFolder,
			userTools: "*",
			logLevel: "warn",
		},
	});
}
