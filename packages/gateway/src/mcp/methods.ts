import { ProtocolError, ProtocolErrorCode, type StandardSchemaV1 } from "@modelcontextprotocol/server";
import { describeIssues } from "xs-mcp-manager/core";
import type { ClientRequest } from "./client-request.js";

/** A method that clients may request. */
export interface Method {
	/** Checks the parameters, and serves the request. */
	readonly serve: (request: ClientRequest) => object | Promise<object>;
	/** The only revisions that have the method: those with sessions, or the ones since 2026-07-28. Default: all. */
	readonly era?: "session" | "stateless" | undefined;
}

/**
 * Makes a method of its parameters' schema and a function that gets them checked.
 *
 * The function throws or rejects with ProtocolError if the parameters are not valid.
 */
export function method<Params>(
	schema: StandardSchemaV1<unknown, Params>,
	serve: (params: Params, request: ClientRequest) => object | Promise<object>,
	era?: Method["era"],
): Method {
	return { era, serve: (request) => serve(readParams(schema, request.params), request) };
}

/** @throws ProtocolError that names the member that is wrong */
export function readParams<Params>(schema: StandardSchemaV1<unknown, Params>, params: object): Params {
	// Neither the SDK's schemas nor the gateway's have asynchronous parts.
	const checked = schema["~standard"].validate(params) as Awaited<ReturnType<(typeof schema)["~standard"]["validate"]>>;
	if (checked.issues !== undefined) {
		const issues = checked.issues.map(({ message, path = [] }) => ({
			message,
			path: path.map((part) => (typeof part === "object" ? part.key : part)),
		}));
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params: ${describeIssues(issues, "params")}`);
	}
	return checked.value;
}
