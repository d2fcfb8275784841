interface PostOptions {
	readonly id?: number;
	readonly capabilities?: object;
	readonly headers?: Readonly<Record<string, string>>;
}

export async function fetchStateless(
	url: string | URL,
	method: string,
	params: object,
	{ id = 1, capabilities = {}, headers }: PostOptions = {},
): Promise<Response> {
	const _meta = {
		"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientInfo": { name: "by-hand", version: "1" },
		"io.modelcontextprotocol/clientCapabilities": capabilities,
	};
	const { name = (params as { taskId?: string }).taskId } = params as { name?: string };
	return await fetch(url, {
		method: "POST",
		headers: {
			"content-type": "application/json",
			accept: "application/json, text/event-stream",
			"mcp-protocol-version": "2026-07-28",
			"mcp-method": method,
			...(name !== undefined && { "mcp-name": name }),
			...headers,
		},
		body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } }),
	});
}

/** The same. @returns the status and the JSON-RPC message of the answer */
export async function postStateless(...request: Parameters<typeof fetchStateless>) {
	const response = await fetchStateless(...request);
	const text = await response.text();
	return { status: response.status, message: JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) };
}
