import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import type { z } from "zod";
import type { ServerTool } from "./offers.js";

interface ModernRequest<Result> {
	readonly request: { readonly method: string; readonly params: Readonly<Record<string, unknown>> };
	readonly schema: z.ZodType<Result>;
	readonly options: RequestOptions;
	readonly tool: ServerTool | undefined;
}

/** Unlike `request`, the SDK's `callTool` sends the headers that a tool wants of its arguments. */
export async function modernRequest<Result>(client: Client, modern: ModernRequest<Result>): Promise<Result> {
	const { schema, tool } = modern;
	const { method, params } = modern.request;
	const options = { ...modern.options, allowInputRequired: true };
	if (method !== "tools/call") {
		return await client.request({ method, params }, schema, options);
	}
	const { name } = params as { name: string };
	const toolDefinition = { name, inputSchema: tool?.inputSchema ?? { type: "object" as const } };
	return schema.parse(await client.callTool({ ...params, name }, { ...options, toolDefinition }));
}
