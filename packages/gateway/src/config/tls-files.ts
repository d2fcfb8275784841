import { readFileSync, statSync } from "node:fs";
import { createSecureContext, type TlsOptions } from "node:tls";
import type { Logger } from "../log.js";
import { ConfigurationError } from "./configuration-error.js";
import { flagOf } from "./setting-kinds.js";
import type { Configuration, SettingName } from "./settings.js";

type Listener = "http" | "websocket" | "mqtt";

/** The certificate and key of a listener, which are read again when they have changed. */
export type TlsFiles = NonNullable<ReturnType<typeof readTlsFiles>>;

/**
 * Reads the certificate and key of a listener; undefined if it has none.
 *
 * @throws ConfigurationError that names the file that cannot be read, or the pair that cannot be used
 */
export function readTlsFiles(listener: Listener, configuration: Configuration) {
	const [certName, keyName] = [`${listener}Cert`, `${listener}Key`] as const;
	const { [certName]: certPath, [keyName]: keyPath } = configuration;
	if (certPath === undefined || keyPath === undefined) {
		return undefined;
	}
	const load = (): TlsOptions => {
		const options = { cert: readPem(certName, certPath), key: readPem(keyName, keyPath) };
		try {
			createSecureContext(options);
		} catch (error) {
			throw new ConfigurationError([`${certName}, ${keyName}: ${(error as Error).message}`], { cause: error });
		}
		return options;
	};
	/** The state of the files when they were read, and at the last poll. */
	let read = stateOf(certPath) + stateOf(keyPath);
	let seen = read;
	return {
		options: load(),
		/**
		 * Makes a listener use its certificate and key as soon as they are renewed. Call it periodically: a changed pair is read at
		 * the second poll with the same state, because the two files are written one after the other. Errors are logged.
		 */
		renew(server: { renewTls(tls: TlsOptions): void }, log: Logger): void {
			const state = stateOf(certPath) + stateOf(keyPath);
			const isSettled = state === seen;
			seen = state;
			if (!isSettled || state === read) {
				return;
			}
			read = state;
			try {
				server.renewTls(load());
				log.info({ files: [certName, keyName] }, "new certificate in use");
			} catch (error) {
				log.error(`${(error as Error).message}. Not a usable certificate: the one before stays in use`);
			}
		},
	};
}

function stateOf(path: string): string {
	try {
		const { ino, size, mtimeMs, ctimeMs } = statSync(path);
		return `${[ino, size, mtimeMs, ctimeMs].join(" ")},`;
	} catch (error) {
		return `${(error as NodeJS.ErrnoException).code},`;
	}
}

/** @throws ConfigurationError that names the setting and the file */
export function readPem(name: SettingName, path: string): Buffer {
	try {
		return readFileSync(path);
	} catch (error) {
		throw new ConfigurationError([`${name}: ${(error as Error).message}`], { cause: error });
	}
}

/**
 * Starts to listen. Rejects with ConfigurationError that names the settings, and what to do if the port is in use.
 *
 * @param listener the beginning of the settings' names
 */
export async function listenAt<T>(listener: Listener | "udp", port: number, listen: () => Promise<T>): Promise<T> {
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
