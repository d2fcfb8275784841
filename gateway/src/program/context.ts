import type { LookupFunction } from "node:net";
import type { TlsOptions } from "node:tls";
import { ConfigurationError } from "../config/configuration.js";
import type { SaveState } from "../config/save-state.js";
import { type Configuration, flagOf } from "../config/settings.js";
import type { TlsFiles } from "../config/tls-files.js";
import type { TokenStore } from "../config/token-store.js";
import type { Logger } from "../log/log.js";
import type { LogLimiter } from "../log/log-limiter.js";
import type { Stores } from "../store/open-stores.js";

/** Where clients and devices connect. */
export interface ProgramUrls {
	clients?: string;
	/** The console's page; absent in sources that were not bundled. */
	console?: string;
	websocket?: string;
	mqtt?: string;
	bootstrap?: string;
}

/** The context that the parts of a gateway share. */
export interface ProgramContext extends Stores {
	readonly configuration: Configuration;
	readonly log: Logger;
	/** For messages that strangers can cause. */
	readonly limitedLog: LogLimiter;
	readonly tokens: TokenStore;
	/** Whether files of the state folder can be written. */
	readonly saves: SaveState;
	/** Filled in as the parts begin to listen. */
	readonly urls: ProgramUrls;
	/** Where the console's bundle is. Default: beside the gateway's. */
	readonly consoleFolder?: string | undefined;
	/** Resolves names that strangers have chosen. Default: the system's resolver. */
	readonly resolve?: LookupFunction | undefined;
	/** Adds what undoes a step when the gateway stops; the last one runs first. */
	readonly onClose: (close: () => Promise<void> | void) => void;
}

/**
 * Starts to listen. Rejects with ConfigurationError that names the settings, and what to do if the port is in use.
 *
 * @param listener the beginning of the settings' names
 */
export async function listenAt<T>(
	listener: "http" | "websocket" | "mqtt" | "udp",
	port: number,
	listen: () => Promise<T>,
): Promise<T> {
	try {
		return await listen();
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		const name = `${listener}Port` as const;
		const problem =
			code === "EADDRINUSE"
				? `${name}: port ${port} is in use, perhaps by another gateway. Choose another port with ${flagOf(name)}, or ` +
					"connect an MCP client to the running gateway: xs-mcp-gateway stdio"
				: `${listener}Address, ${name}: ${message}`;
		throw new ConfigurationError([problem], { cause: error });
	}
}

/** Makes a listener use its certificate and key as soon as they are renewed. Call it periodically; errors are logged. */
export function renewTls(
	files: TlsFiles | undefined,
	listener: { renewTls(tls: TlsOptions): void },
	log: Logger,
): void {
	try {
		const tls = files?.renewed();
		if (tls !== undefined) {
			listener.renewTls(tls);
			log.info({ files: files?.names }, "new certificate in use");
		}
	} catch (error) {
		log.error(`${(error as Error).message}. Not a usable certificate: the one before stays in use`);
	}
}
