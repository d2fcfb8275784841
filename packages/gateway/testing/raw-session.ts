// Sessions of the revisions until 2025-11-25, by hand.

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

export const initializeParams = (protocolVersion = "2025-11-25", capabilities: object = {}) => ({
	protocolVersion,
	capabilities,
	clientInfo: { name: "by-hand", version: "7" },
});

export async function post(
	url: string | URL,
	message: object,
	headers: Readonly<Record<string, string>> = {},
	signal: AbortSignal | null = null,
): Promise<Response> {
	const body = JSON.stringify(Array.isArray(message) ? message : { jsonrpc: "2.0", id: 1, ...message });
	return await fetch(url, { method: "POST", headers: { ...HEADERS, ...headers }, body, signal });
}

export async function postIn(url: string | URL, message: object, session?: string) {
	const response = await post(url, message, session === undefined ? {} : { "mcp-session-id": session });
	return { status: response.status, session: response.headers.get("mcp-session-id"), text: await response.text() };
}

export async function openSession(
	url: string | URL,
	revision?: string,
	headers: Readonly<Record<string, string>> = {},
) {
	const opened = await post(url, { method: "initialize", params: initializeParams(revision) }, headers);
	const session = opened.headers.get("mcp-session-id") ?? "";
	const { result } = await messageIn(opened);
	return {
		session,
		serverInfo: result.serverInfo,
		ask: async (method: string, params: object = {}) =>
			await messageIn(await post(url, { method, params }, { ...headers, "mcp-session-id": session })),
	};
}

// biome-ignore lint/suspicious/noExplicitAny: tests read members that may not be there, and fail if they are not.
async function messageIn(response: Response): Promise<any> {
	const text = await response.text();
	return JSON.parse(/^data: (.*"id":1.*)$/m.exec(text)?.[1] ?? text);
}
