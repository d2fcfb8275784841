import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type * as z from "zod";

/**
 * The parameters of a request of an extension, whose schema the SDK does not have.
 *
 * @throws ProtocolError that names the member that is wrong
 */
export function readParams<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
	const { data, error } = schema.safeParse(params ?? {});
	if (error !== undefined) {
		const [issue] = error.issues;
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${issue?.path.join(".") || "params"}: ${issue?.message}`);
	}
	return data;
}
