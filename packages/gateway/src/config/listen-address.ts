import { readFileSync, statSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import { createSecureContext, type TlsOptions, Server as TlsServer } from "node:tls";
import type { Logger } from "../log.js";
import { ConfigurationError, flagOf } from "../plugin.js";
import type { Configuration, SettingName } from "./settings.js";

/** Hostnames of this machine's loopback addresses, as in a URL. Not the SDK's list: every command would load the SDK. */
const LOOPBACK_HOSTNAMES = ["localhost", "127.0.0.1", "[::1]"];

/** Whether only programs on this machine can connect to that address, or to that hostname of a URL. */
export function isLoopback(address: string): boolean {
	return /^(localhost|::1|\[::1\]|127(\.[0-9]{1,3}){3})$/.test(address);
}

/** Hostnames, as in a URL, of a server that listens on that address. IPv6 addresses have brackets. */
export function hostnamesOf(address: string): string[] {
	if (isLoopback(address)) {
		return [...LOOPBACK_HOSTNAMES];
	}
	const own = isEverywhere(address) ? ownAddresses().map((each) => each.address) : [address];
	const name = hostname().toLowerCase();
	return [...LOOPBACK_HOSTNAMES, ...own.map(bracketed), name, `${name}.local`];
}

/** A URL without a path. If the server listens on every address: loopback. */
export function urlAt(scheme: string, address: string, port: number): string {
	return `${scheme}://${isEverywhere(address) ? "127.0.0.1" : bracketed(address)}:${port}`;
}

/**
 * A URL without a path for other machines: if the server listens on every address, the first IPv4 address of this
 * machine that is not loopback; undefined if it has none.
 */
export function outsideUrlAt(scheme: string, address: string, port: number): string | undefined {
	if (!isEverywhere(address)) {
		return urlAt(scheme, address, port);
	}
	const outside = ownAddresses().find(({ family, internal }) => family === "IPv4" && !internal);
	return outside && urlAt(scheme, outside.address, port);
}

function isEverywhere(address: string): boolean {
	return address === "0.0.0.0" || address === "::";
}

function ownAddresses() {
	return Object.values(networkInterfaces()).flatMap((list = []) => list);
}

function bracketed(address: string): string {
	return address.includes(":") ? `[${address}]` : address;
}

/** The origin at which clients sign in: `publicUrl` with https or on loopback, without a path. Undefined: sign-in is off. */
export function publicOrigin(publicUrl: string | undefined): string | undefined {
	if (publicUrl === undefined) {
		return undefined;
	}
	const { origin, protocol, hostname, pathname, search } = new URL(publicUrl);
	const isSecure = protocol === "https:" || isLoopback(hostname);
	return isSecure && pathname === "/" && search === "" ? origin : undefined;
}

type Listener = "http" | "websocket" | "mqtt";

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
		renew(server: object, log: Logger): void {
			const state = stateOf(certPath) + stateOf(keyPath);
			const isSettled = state === seen;
			seen = state;
			if (!isSettled || state === read || !(server instanceof TlsServer)) {
				return;
			}
			read = state;
			try {
				server.setSecureContext(load());
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
