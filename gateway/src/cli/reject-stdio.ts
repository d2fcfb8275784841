import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { SERVER_ERROR, untilDisconnected } from "xs-mcp-manager/core";

/** Answers each request of the client that started this process with an error. Settles when the client disconnects. */
export async function rejectStdio({ message }: Error): Promise<void> {
	const transport = new StdioServerTransport();
	transport.onmessage = (request) => {
		if ("method" in request && "id" in request) {
			// A client that is gone needs no answer.
			transport.send({ jsonrpc: "2.0", id: request.id, error: { code: SERVER_ERROR, message } }).catch(() => {});
		}
	};
	const disconnected = untilDisconnected(transport);
	await transport.start();
	await disconnected;
}
