import type { Access } from "../config/access.js";
import { ClientServer } from "./client-server.js";
import type { Gateway } from "./gateway.js";

interface OpenClientServerOptions {
	readonly access: Access;
	/** Alias or id: only this server's tools. It may become known later. */
	readonly server?: string | undefined;
	/** Is told why a change could not be announced. */
	readonly onerror: (error: Error) => void;
}

/** The MCP server for one client, which is told of changes as long as it is connected. */
export function openClientServer(gateway: Gateway, { access, server, onerror }: OpenClientServerOptions): ClientServer {
	const catalog = gateway.catalog(access, server);
	const { requestStates, updates, events, tasks, whenKnown, checkCall } = gateway;
	const clientServer = new ClientServer({
		principal: access.principal,
		catalog,
		requestStates,
		updates,
		events,
		tasks,
		whenKnown,
		checkCall,
		holder: access.holder,
		onClosed: () => stopFollowing(),
	});
	const stopFollowing = catalog.onChange((change) => void clientServer.announce(change).catch(onerror));
	return clientServer;
}
