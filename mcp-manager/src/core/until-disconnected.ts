import type { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** Settles when nobody is at the other end of standard input and output any more. To be called once it is served. */
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
