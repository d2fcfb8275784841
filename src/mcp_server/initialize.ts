import { type Client, readClient } from "./client.js";
import { invalidParams } from "./json-rpc.js";
import type { Params } from "./params.js";
import { negotiate, OLDEST_REVISION, type Revision } from "./revision.js";
import type { SessionServer } from "./session-options.js";

// Looked up once: XS searches the global object, and `JSON`, at each use.
const { stringify } = JSON;

interface InitializedSession {
	client: Client;
	revision: Revision;
	readonly server: SessionServer<unknown>;
}

/**
 * Reads the client's capabilities, and negotiates the revision.
 *
 * @returns the result as JSON
 * @throws RpcError
 */
export const initialize = (params: Params, session: InitializedSession): string => {
	const { name, version, capabilities, log } = session.server;
	// Some backends name no revision.
	const requested = params.protocolVersion ?? OLDEST_REVISION;
	if (typeof requested !== "string") {
		throw invalidParams("protocolVersion: expected a string");
	}
	session.client = readClient(params, log);
	session.revision = negotiate(requested);
	// Put together: XS takes twice as long for the JSON of one object with all of it.
	return '{"protocolVersion":"'.concat(
		session.revision,
		'","capabilities":',
		stringify(capabilities),
		',"serverInfo":{"name":',
		stringify(name),
		',"version":',
		stringify(version),
		"}}",
	);
};
