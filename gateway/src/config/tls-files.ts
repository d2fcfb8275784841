import { readFileSync } from "node:fs";
import type { TlsOptions } from "node:tls";
import { ConfigurationError } from "./configuration.js";
import type { Configuration, SettingName } from "./settings.js";

/**
 * The certificate and key of a listener, if it has them.
 *
 * @throws ConfigurationError that names the file that cannot be read
 */
export function readTls(listener: "http" | "websocket" | "mqtt", configuration: Configuration): TlsOptions | undefined {
	const [certName, keyName] = [`${listener}Cert`, `${listener}Key`] as const;
	const [cert, key] = [configuration[certName], configuration[keyName]];
	return cert === undefined || key === undefined
		? undefined
		: { cert: readPem(certName, cert), key: readPem(keyName, key) };
}

/** @throws ConfigurationError that names the setting and the file */
export function readPem(name: SettingName, path: string): Buffer {
	try {
		return readFileSync(path);
	} catch (error) {
		throw new ConfigurationError([`${name}: ${(error as Error).message}`], { cause: error });
	}
}
