import { hostname } from "node:os";
import type { ServiceOptions } from "@homebridge/ciao";
import { slug } from "xs-mcp-manager/core";
import { isLoopback } from "../config/listen-address.js";
import { GATEWAY_INFO } from "../version.js";
import type { DeviceListener } from "./plugin.js";

/** The service type that devices search for, as in src/features/discovery/gateway-search.ts. */
const SERVICE_TYPE = "xs-mcp";

/** Characters of a name in DNS, at most. */
const MAX_LABEL = 63;

/**
 * Describes the gateway to devices on the local network (DNS-SD, https://www.rfc-editor.org/rfc/rfc6763): a service for each
 * way in which they can reach it. TXT: `transport`, `path` (of a WebSocket), `version`.
 *
 * @returns nothing for a listener that only programs on this machine can reach
 */
export function describeServices(listeners: readonly DeviceListener[], host = hostname()): ServiceOptions[] {
	const label = host.split(".")[0] ?? "";
	return listeners
		.filter(({ address }) => !isLoopback(address))
		.map(({ scheme, address, port }) => ({
			name: `xs-mcp gateway on ${label} (${scheme})`.slice(0, MAX_LABEL),
			type: SERVICE_TYPE,
			port,
			hostname: hostnameOf(label, scheme),
			txt: { transport: scheme, ...(scheme.startsWith("ws") && { path: "/" }), version: GATEWAY_INFO.version },
			...(address !== "0.0.0.0" && address !== "::" && { restrictedAddresses: [address] }),
		}));
}

/**
 * Not the machine's own name, which the system's responder serves. Each service has its own hostname, because ciao
 * treats two services with one hostname as a conflict, and renames the second.
 */
function hostnameOf(label: string, scheme: string): string {
	const prefix = `xs-mcp-${scheme.startsWith("ws") ? "" : `${scheme}-`}`;
	return prefix + slug(label, "-", MAX_LABEL - prefix.length);
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
	// Loaded on demand: on loopback there is nothing to announce. A bundle has only the default of a CommonJS module.
	const { default: ciao } = await import("@homebridge/ciao");
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
