import { once } from "node:events";
import { printableLine } from "../log/printable.js";
import { Endpoint, type EndpointOptions } from "../transports/endpoint.js";
import { waitForGateway } from "./bridge-command.js";
import { configurationFrom } from "./configuration-options.js";
import { EXIT, UsageError } from "./exit.js";
import { type CatalogOptions, type ClientOptions, clientFor, type GatewayAddress } from "./gateway-client.js";
import { Relay } from "./relay.js";

export interface EndpointCommandOptions extends ClientOptions, CatalogOptions {
	readonly device?: string;
	readonly config?: string;
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
	const { device, config } = options;
	const { endpoints } = configurationFrom({ config, ...(given.length > 0 && { endpoints: given }) });
	if (endpoints.length === 0) {
		throw new UsageError("expected the URL of an endpoint: wss://HOST/mcp/?token=…");
	}
	const onChange = (text: string): void => console.error(printableLine(`xs-mcp-gateway: ${text}`));
	const gateway = clientFor(options);
	const serve = (endpoint: string) =>
		serveEndpoint(endpoint, { onChange, open: () => gateway.address(device, options) });
	const served = await Promise.all(endpoints.map(serve));
	await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
	await Promise.all(served.map((close) => close()));
	process.exit(EXIT.ok);
}

interface ServeEndpointOptions extends Pick<EndpointOptions, "onChange"> {
	/** Reaches the gateway. */
	readonly open: () => Promise<GatewayAddress>;
}

/**
 * Serves one endpoint, with a session of its own for each of its connections.
 *
 * @returns a function that stops it
 */
async function serveEndpoint(url: string, { onChange, open }: ServeEndpointOptions): Promise<() => Promise<void>> {
	const address = await waitForGateway(open, ({ message }) => onChange(message));
	const endpoint = new Endpoint({ url, open: (channel) => new Relay(channel, address), onChange });
	return () => endpoint.close();
}
