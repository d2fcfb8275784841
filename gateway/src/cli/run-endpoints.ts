import { once } from "node:events";
import { Endpoint } from "../clients/endpoint.js";
import { printableLine } from "../printable.js";
import { type ClientOptions, catalogFrom, clientFor } from "./client-commands.js";
import { configurationFrom } from "./configuration-options.js";
import { EXIT, UsageError } from "./exit.js";
import type { CatalogOptions } from "./gateway-client.js";
import { connect } from "./run-bridge.js";
import { Bridge } from "./stdio-bridge.js";

export interface EndpointCommandOptions extends ClientOptions, CatalogOptions {
	readonly device?: string;
	readonly config?: string;
	readonly endpointMaxBytes?: unknown;
}

/**
 * Connects a running gateway to MCP endpoints, until a signal ends it. The gateway may start later; the endpoints are
 * connected once it answers, because agents keep the first list of tools that they get. Rejects if the gateway does not
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
	const report = (error: Error): void => onChange(error.message);
	const gateway = clientFor({ ...(url && { url }), ...(token && { token }) });
	const client = await connect(() => gateway.connect(device, catalogFrom(options)), report).client;
	const bridge = new Bridge(report);
	const following = bridge.follow(client);
	const open = () => bridge.openServer();
	const connected = endpoints.map((each) => new Endpoint({ url: each, open, maxBytes, onChange }));
	await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM"), following]);
	bridge.stop();
	await Promise.all(connected.map((each) => each.close()));
	await client.close();
	process.exit(EXIT.ok);
}
