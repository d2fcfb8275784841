import { writeFile } from "node:fs/promises";
import { parse } from "node:path";
import type { ContentBlock } from "@modelcontextprotocol/client";

/**
 * Writes the base64 contents of a result to files: pictures, sound, embedded resources. The first gets the given name,
 * the others end in -2, -3, …: photo.jpg, photo-2.jpg. A file of that name is replaced. Rejects if one cannot be
 * written.
 *
 * @returns where each block was saved
 */
export async function saveMedia(
	content: readonly ContentBlock[],
	file: string,
): Promise<ReadonlyMap<ContentBlock, string>> {
	const saved = new Map<ContentBlock, string>();
	for (const block of content) {
		const isMedia = block.type === "image" || block.type === "audio";
		const blob = block.type === "resource" && "blob" in block.resource ? block.resource.blob : undefined;
		const data = isMedia ? block.data : blob;
		if (data !== undefined) {
			const { ext } = parse(file);
			const path = saved.size === 0 ? file : `${file.slice(0, file.length - ext.length)}-${saved.size + 1}${ext}`;
			await writeFile(path, Buffer.from(data, "base64"));
			saved.set(block, path);
		}
	}
	return saved;
}
