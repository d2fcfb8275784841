import { isObject } from "../../core/text/json.js";
import type { Params } from "../json-rpc.js";
import type { ToolCall } from "../tool-call.js";
import { ask } from "./ask.js";

/** A folder or file that the client works on. */
export interface Root {
	readonly uri: string;
	readonly name?: string;
}

const NAMES: readonly string[] = Object.freeze(["roots", "uri", "name"]);

/**
 * Asks which folders the client works on: https://modelcontextprotocol.io/specification/2025-11-25/client/roots
 *
 * @param key identifies this question among those of the call. Default: by the order of asking
 * @throws RpcError, Error if the client cannot be asked
 * @throws CallCancelled if the call is cancelled first
 * @example
 * for (const { uri } of await roots(call)) list.push(uri);
 */
export const roots = async (call: ToolCall, { key }: { readonly key?: string } = {}): Promise<readonly Root[]> => {
	const question = { key, method: "roots/list", params: {}, capability: "roots", mode: undefined } as const;
	return await ask(call, { ...question, names: NAMES, read });
};

const read = ({ roots }: Params): readonly Root[] => {
	if (!Array.isArray(roots)) {
		throw new TypeError("roots: expected an array");
	}
	return roots.map((root: unknown) => {
		if (!isObject(root) || typeof root.uri !== "string") {
			throw new TypeError("roots: expected objects with a uri");
		}
		return { uri: root.uri, ...(typeof root.name === "string" && { name: root.name }) };
	});
};
