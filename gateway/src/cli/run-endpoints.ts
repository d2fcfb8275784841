import { once } from "node:events";
import type { Client } from "@modelcontextprotocol/client";
import { printableLine } from "../log/printable.js";
import { Endpoint, type EndpointOptions } from "../transports/endpoint.js";
import { catalogFrom } from "./client-commands.js";
import { configurationFrom } from "./configuration-options.js";
import { EXIT, UsageError } from "./exit.js";
import type { CatalogOptions } from "./gateway-client.js";
import { type ClientOptions, clientFor } from "./gateway-client.js";
import { connect } from "./run-bridge.js";
import { Bridge } from "./stdio-bridge.js";

export interface EndpointCommandOptions extends ClientOptions, CatalogOptions {
	readonly device?: string;
	readonly config?: string;
	readonly endpointMaxBytes?: unknown;
}

/**
 * Connects a running gateway to MCP endpoints, until a signal ends it. The gateway may start later; the endpoints are
 * connected once it answers, because agents keep their first tool list. Rejects if the gateway does not
 * accept the token, or does not know the device.
 */
export async function runEndpoints(given: readonly string[], options: EndpointCommandOptions): Promise<void> {
	if (!given.every((each) => /^wss?:\/\//.test(each) && URL.canParse(each))) {
		throw new UsageError("expected URLs of endpoints that begin with ws:// or wss://");
	}
	const { url, token, device, config, endpointMaxBytes } = options;
	const { endpoints, endpointMaxBytes: maxBytes } = configurationFrom({
		...(config !== undefined && { config }),
		...(endpointMaxBytes !== undefined && { endpointMaxBytes }),
		...(given.length > 0 && { endpoints: given }),
	});
	if (endpoints.length === 0) {
		throw new UsageError("expected the URL of an endpoint: wss://HOST/mcp/?token=…");
	}
	const onChange = (text: string): void => console.error(printableLine(`xs-mcp-gateway: ${text}`));
	const gateway = clientFor({ ...(url && { url }), ...(token && { token }) });
	const serve = (endpoint: string) =>
		serveEndpoint(endpoint, { maxBytes, onChange, open: () => gateway.connect(device, catalogFrom(options)) });
	const served = await Promise.all(endpoints.map(serve));
	await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
	await Promise.all(served.map((close) => close()));
	process.exit(EXIT.ok);
}

interface ServeEndpointOptions extends Pick<EndpointOptions, "maxBytes" | "onChange"> {
	/** Connects to the gateway. */
	readonly open: () => Promise<Client>;
}

/**
 * Serves one endpoint over its own connection to the gateway, so that messages for its agent do not reach others.
 *
 * @returns a function that stops it
 */
async function serveEndpoint(
	url: string,
	{ maxBytes, onChange, open }: ServeEndpointOptions,
): Promise<() => Promise<void>> {
	const report = (error: Error): void => onChange(error.message);
	const client = await connect(open, report).client;
	const bridge = new Bridge(report);
	const following = bridge.follow(client);
	const endpoint = new Endpoint({ url, open: () => bridge.openServer(), maxBytes, onChange });
	return async () => {
		bridge.stop();
		await following;
		await endpoint.close();
		await client.close();
	};
}
