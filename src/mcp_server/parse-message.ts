import { JsonLimitError, parseJson } from "../text/parse-json.js";
import { ErrorCode, invalidRequest, RpcError } from "./json-rpc.js";

/** @throws RpcError if the text is not JSON, or nests too deep */
export const parseMessage = (text: string): unknown => {
	try {
		return parseJson(text);
	} catch (error) {
		const { message } = error as Error;
		throw error instanceof JsonLimitError
			? invalidRequest(message)
			: new RpcError(ErrorCode.parseError, `Parse error: ${message}`);
	}
};
