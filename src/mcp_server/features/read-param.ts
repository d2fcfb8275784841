import { ErrorCode, RpcError } from "../json-rpc.js";
import type { Params } from "../params.js";

/**
 * A required member of a request, as text.
 *
 * @param expected its description in the error: "the URI of a resource"
 * @throws RpcError invalid params
 */
export const readText = (params: Params, name: string, expected: string): string => {
	const value = params[name];
	if (typeof value !== "string") {
		throw new RpcError(ErrorCode.invalidParams, `${name}: expected ${expected}`);
	}
	return value;
};
