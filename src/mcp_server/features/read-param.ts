import { ErrorCode, RpcError } from "../json-rpc.js";
import type { Params } from "../params.js";

/**
 * A member of a request that must be there, as text.
 *
 * @param expected what it is, for the error: "the URI of a resource"
 * @throws RpcError invalid params
 */
export function readText(params: Params, name: string, expected: string): string {
	const value = params[name];
	if (typeof value !== "string") {
		throw new RpcError(ErrorCode.invalidParams, `${name}: expected ${expected}`);
	}
	return value;
}
