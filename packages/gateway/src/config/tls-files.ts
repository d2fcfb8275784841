import { readFileSync, statSync } from "node:fs";
import { createSecureContext, type TlsOptions } from "node:tls";
import type { Logger } from "../log/log.js";
import { ConfigurationError } from "./configuration-error.js";
import { flagOf } from "./setting-kinds.js";
import type { Configuration, SettingName } from "./settings.js";

type Listener = "http" | "websocket" | "mqtt";

/** The certificate and key of a listener, which are read again when they have changed. */
export class TlsFiles {
	/** The pair that was read first. */
	readonly options: TlsOptions;
	/** The settings that name them. */
	readonly #names: readonly [SettingName, SettingName];
	readonly #paths: readonly [string, string];
	/** The state of the files when they were read, and at the last poll. */
	#read: string;
	#seen: string;

	private constructor(names: readonly [SettingName, SettingName], paths: readonly [string, string]) {
		this.#names = names;
		this.#paths = paths;
		this.#read = this.#state();
		this.#seen = this.#read;
		this.options = this.#load();
	}

	/**
	 * The files of a listener; undefined if it has none.
	 *
	 * @throws ConfigurationError that names the file that cannot be read, or the pair that cannot be used
	 */
	static of(listener: Listener, configuration: Configuration): TlsFiles | undefined {
		const [certName, keyName] = [`${listener}Cert`, `${listener}Key`] as const;
		const [cert, key] = [configuration[certName], configuration[keyName]];
		return cert === undefined || key === undefined ? undefined : new TlsFiles([certName, keyName], [cert, key]);
	}

	/**
	 * Makes a listener use its certificate and key as soon as they are renewed. Call it periodically: a changed pair is read at
	 * the second poll with the same state, because the two files are written one after the other. Errors are logged.
	 */
	renew(listener: { renewTls(tls: TlsOptions): void }, log: Logger): void {
		const state = this.#state();
		const isSettled = state === this.#seen;
		this.#seen = state;
		if (!isSettled || state === this.#read) {
			return;
		}
		this.#read = state;
		try {
			listener.renewTls(this.#load());
			log.info({ files: this.#names }, "new certificate in use");
		} catch (error) {
			log.error(`${(error as Error).message}. Not a usable certificate: the one before stays in use`);
		}
	}

	#load(): TlsOptions {
		const [[certName, keyName], [certPath, keyPath]] = [this.#names, this.#paths];
		const options = { cert: readPem(certName, certPath), key: readPem(keyName, keyPath) };
		try {
			createSecureContext(options);
		} catch (error) {
			throw new ConfigurationError([`${certName}, ${keyName}: ${(error as Error).message}`], { cause: error });
		}
		return options;
	}

	#state(): string {
		return this.#paths
			.map((path) => {
				try {
					const { ino, size, mtimeMs, ctimeMs } = statSync(path);
					return [ino, size, mtimeMs, ctimeMs].join(" ");
				} catch (error) {
					return (error as NodeJS.ErrnoException).code;
				}
			})
			.join();
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
