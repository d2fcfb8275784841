import type { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** Settles when the client at standard input and output has disconnected. Call it once the client is served. */
export function untilDisconnected(transport: StdioServerTransport): Promise<void> {
	return new Promise((resolve) => {
		const { onclose } = transport;
		transport.onclose = () => {
			onclose?.();
			resolve();
		};
		process.stdout.on("error", () => resolve());
	});
}
