import type { Client } from "@modelcontextprotocol/client";

/** Makes a host call set_volume. Rejects unless the answer is the one that every path has to give. */
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
