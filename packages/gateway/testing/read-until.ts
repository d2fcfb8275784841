export async function readUntil(stream: Response, pattern: RegExp): Promise<string> {
	let text = "";
	const decoder = new TextDecoder();
	for await (const chunk of stream.body ?? []) {
		text += decoder.decode(chunk, { stream: true });
		if (pattern.test(text)) {
			return text;
		}
	}
	throw new Error(`the stream ended after: ${text}`);
}
