import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { describeIssues } from "xs-mcp-manager/core";
import type * as z from "zod";

/**
 * The parameters of a request of an extension, whose schema the SDK does not have.
 *
 * @throws ProtocolError that names the member that is wrong
 */
export function readParams<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
	const { data, error } = schema.safeParse(params ?? {});
	if (error !== undefined) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, describeIssues(error.issues, "params"));
	}
	return data;
}
