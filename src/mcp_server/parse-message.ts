import { JsonLimitError, parseJson } from "../text/parse-json.js";
import { ErrorCode, invalidRequest, RpcError } from "./json-rpc.js";
import type { SessionServer } from "./session-options.js";

/**
 * Parses a message of a client. Members that the server does not read are skipped: XS would keep their names until the
 * restart.
 *
 * @param maxValues how much the message may hold: see {@link parseJson}
 * @throws RpcError if the text is not JSON, nests too deep or has too many values
 */
export const parseMessage = (
	text: string,
	server: Pick<SessionServer<unknown>, "commonNames" | "widerNames">,
	maxValues?: number,
): unknown => {
	try {
		const message = parseJson(text, maxValues, server.commonNames);
		const wider = server.widerNames(message);
		return wider === undefined ? message : parseJson(text, maxValues, wider);
	} catch (error) {
		const { message } = error as Error;
		throw error instanceof JsonLimitError
			? invalidRequest(message)
			: new RpcError(ErrorCode.parseError, `Parse error: ${message}`);
	}
};
