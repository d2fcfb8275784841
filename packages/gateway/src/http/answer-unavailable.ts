import type { Server } from "node:http";
import type { Configuration } from "../config/settings.js";
import { listenAt, readTlsFiles } from "../config/tls-files.js";
import { closeServer, createHttpServer, listenOn } from "./listener.js";

/** Seconds after which clients and devices may try again. */
const RETRY_AFTER = "5";

/**
 * Answers every request at the ports of clients and devices with 503, because the gateway cannot serve them yet. Rejects with
 * ConfigurationError.
 *
 * @returns stops it
 */
export async function answerUnavailable(configuration: Configuration): Promise<() => Promise<void>> {
	const { websocket, httpAddress, httpPort, websocketAddress, websocketPort } = configuration;
	const servers: Server[] = [];
	const listen = async (listener: "http" | "websocket", host: string, port: number): Promise<void> => {
		const server = createHttpServer(() => {}, { tls: readTlsFiles(listener, configuration)?.options });
		server.on("request", (_request, response) => {
			response.writeHead(503, { "Content-Type": "application/json", "Retry-After": RETRY_AFTER });
			response.end('{"status":"starting","problem":"the cluster\'s store is unreachable"}\n');
		});
		await listenAt(listener, port, () => listenOn(server, { host, port }, () => {}));
		servers.push(server);
	};
	await listen("http", httpAddress, httpPort);
	if (websocket) {
		await listen("websocket", websocketAddress, websocketPort);
	}
	return async () => {
		for (const server of servers) {
			await closeServer(server);
		}
	};
}
