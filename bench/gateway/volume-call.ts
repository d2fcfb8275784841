import type { Client } from "@modelcontextprotocol/client";

/** Makes a client call set_volume. Rejects if the answer is not the expected one. */
export function volumeCall(client: Client, name: string): () => Promise<void> {
	let volume = 0;
	return async () => {
		volume = (volume + 1) % 101;
		const { content, isError } = await client.callTool({ name, arguments: { volume } });
		if (isError === true || JSON.stringify(content) !== '[{"type":"text","text":"true"}]') {
			throw new Error(`${name}: an answer that none should give: ${JSON.stringify(content)}`);
		}
	};
}
