import { once } from "node:events";
import { EXIT, GatewayError } from "../gateway-error.js";
import { printableLine } from "../printable.js";
import { connectEndpoint } from "../transports/endpoint.js";
import { waitForGateway } from "./bridge-command.js";
import { configurationFrom } from "./configuration-options.js";
import { type CatalogFlags, type ClientFlags, clientFor } from "./gateway-client.js";
import { Relay } from "./relay.js";

export interface EndpointFlags extends ClientFlags, CatalogFlags {
	readonly device?: string;
	readonly config?: string;
}

/**
 * Connects a running gateway to MCP endpoints, until a signal ends it. The gateway may start later; the endpoints are
 * connected once it answers, because agents keep their first tool list. Rejects if the gateway does not
 * accept the token, or does not know the device.
 */
export async function runEndpoints(given: readonly string[], options: EndpointFlags): Promise<void> {
	if (!given.every((each) => /^wss?:\/\//.test(each) && URL.canParse(each))) {
		throw new GatewayError("usage", "expected URLs of endpoints that begin with ws:// or wss://");
	}
	const { device, config } = options;
	const { endpoints } = configurationFrom({ config, ...(given.length > 0 && { endpoints: given }) });
	if (endpoints.length === 0) {
		throw new GatewayError("usage", "expected the URL of an endpoint: wss://HOST/mcp/?token=…");
	}
	const onChange = (text: string): void => console.error(printableLine(`xs-mcp-gateway: ${text}`));
	const gateway = clientFor(options);
	/** Serves one endpoint, with a session of its own for each of its connections. */
	const serve = async (url: string): Promise<() => Promise<void>> => {
		const address = await waitForGateway(
			() => gateway.address(device, options),
			({ message }) => onChange(message),
		);
		return connectEndpoint(url, (channel) => new Relay(channel, address), onChange);
	};
	const served = await Promise.all(endpoints.map(serve));
	await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
	await Promise.all(served.map((close) => close()));
	process.exit(EXIT.ok);
}
