import { isObject } from "../text/is-object.js";
import { ErrorCode, RpcError } from "./json-rpc.js";
import type { Client, Vision } from "./tool-call.js";

/**
 * Reads what a client says of itself in the params of `initialize`.
 *
 * @throws RpcError invalid params, when `capabilities` is there and no object
 */
export function readClient(params: Readonly<Record<string, unknown>>, log: (message: string) => void): Client {
	const { capabilities = {}, clientInfo } = params;
	if (!isObject(capabilities)) {
		throw new RpcError(ErrorCode.invalidParams, "capabilities: expected an object");
	}
	const info = isObject(clientInfo) ? clientInfo : {};
	const vision = readVision(capabilities.vision, log);
	return {
		capabilities,
		...(typeof info.name === "string" && { name: info.name }),
		...(typeof info.version === "string" && { version: info.version }),
		...(vision !== undefined && { vision }),
	};
}

/** A vision service that cannot be used costs the camera its eyes, not the session its handshake. */
function readVision(vision: unknown, log: (message: string) => void): Vision | undefined {
	if (vision === undefined) {
		return undefined;
	}
	const { url, token } = isObject(vision) ? vision : {};
	if (typeof url !== "string" || !/^https?:\/\/./.test(url)) {
		log(`capabilities.vision.url: expected an http or https URL, got ${JSON.stringify(url)}: no vision service`);
		return undefined;
	}
	return { url, token: typeof token === "string" ? token : "" };
}
