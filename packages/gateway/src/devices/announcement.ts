import { hostname } from "node:os";
import type { ServiceOptions } from "@homebridge/ciao";
import { slug } from "xs-mcp-manager/core";
import { isLoopback } from "../config/listen-address.js";
import { GATEWAY_INFO } from "../version.js";
import type { DeviceListener } from "./plugin.js";

/** The service type that devices search for, as in src/features/discovery/gateway-search.ts. */
const DEVICE_SERVICE = "xs-mcp";

/** The service type of servers that speak MCP over HTTP, as devices without a gateway announce it. */
const CLIENT_SERVICE = "mcp";

/** Characters of a name in DNS, at most. */
const MAX_LABEL = 63;

/**
 * Describes the gateway to devices and clients on the local network (DNS-SD, https://www.rfc-editor.org/rfc/rfc6763): a
 * service for each way in which they can reach it. TXT: `transport`, `path` (of a WebSocket or of MCP), `version`.
 *
 * @returns nothing for a listener that only programs on this machine can reach
 */
export function describeServices(listeners: readonly DeviceListener[], host = hostname()): ServiceOptions[] {
	const label = host.split(".")[0] ?? "";
	return listeners
		.filter(({ address }) => !isLoopback(address))
		.map(({ scheme, address, port }) => {
			const isForClients = scheme.startsWith("http");
			const path = isForClients ? { path: "/mcp" } : scheme.startsWith("ws") && { path: "/" };
			return {
				name: `xs-mcp gateway on ${label} (${scheme})`.slice(0, MAX_LABEL),
				type: isForClients ? CLIENT_SERVICE : DEVICE_SERVICE,
				port,
				hostname: announcedHostname(scheme, host),
				txt: { transport: scheme, ...path, version: GATEWAY_INFO.version },
				...(address !== "0.0.0.0" && address !== "::" && { restrictedAddresses: [address] }),
			};
		});
}

/**
 * The hostname of an announced service, without `.local`. Not the machine's own name, which the system's responder serves.
 * Each service has its own hostname, because ciao treats two services with one hostname as a conflict, and renames the second.
 */
export function announcedHostname(scheme: string, host = hostname()): string {
	const prefix = `xs-mcp-${scheme.startsWith("ws") ? "" : `${scheme}-`}`;
	return prefix + slug(host.split(".")[0] ?? "", "-", MAX_LABEL - prefix.length);
}

/**
 * Announces services on the local network by multicast DNS.
 *
 * @param onFailure called if the gateway cannot be announced; it keeps running
 * @param networks the interfaces to announce on, by name or address. Default: every one
 * @returns a function that announces the end of the services
 */
export async function announce(
	services: readonly ServiceOptions[],
	onFailure: (error: Error) => void,
	networks?: readonly string[],
): Promise<() => Promise<void>> {
	const { prepareStackTrace } = Error;
	// Loaded on demand: on loopback there is nothing to announce. A bundle has only the default of a CommonJS module.
	const { default: ciao } = await import("@homebridge/ciao");
	// ciao registers source-map-support, which does not find the lines of modules whose files are gone.
	Error.prepareStackTrace = prepareStackTrace;
	const responder = ciao.getResponder(networks && { interface: [...networks] });
	const announced = services.map((each) => responder.createService(each));
	for (const service of announced) {
		service.advertise().catch(onFailure);
	}
	return async () => {
		await Promise.allSettled(announced.map((service) => service.destroy()));
		await responder.shutdown();
	};
}
