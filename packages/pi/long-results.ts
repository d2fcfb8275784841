// Keeps long results out of the model's context, as pi's documents ask of tools: the beginning, and the rest in a file.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolDefinition } from "@mariozechner/pi-coding-agent";

type Content = Awaited<ReturnType<ToolDefinition["execute"]>>["content"];

/** Limits of the text of one result, as pi's own tools have them. */
const MAX_BYTES = 50 * 1024;
const MAX_LINES = 2_000;

/** Base64 characters of an image: models reject larger ones. */
const MAX_IMAGE = 5 * 1024 * 1024;

/** Files that are kept; the oldest are removed. */
const MAX_FILES = 100;

/** The files of long results: in a folder of their own, which only the person can read, until the session ends. */
export class LongResults {
	#folder: Promise<string> | undefined;
	readonly #files: string[] = [];
	#written = 0;

	/** The content for the model: within the limits, and with the path of the file that has all of it. */
	async limited(content: Content): Promise<Content> {
		const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
		const images: Content = [];
		for (const block of content) {
			if (block.type === "image" && block.data.length > MAX_IMAGE) {
				const path = await this.#save(Buffer.from(block.data, "base64"), "image");
				const notice = `[An image (${block.mimeType}) is too large for the model. It is in ${path}]`;
				images.push({ type: "text", text: notice });
			} else if (block.type === "image") {
				images.push(block);
			}
		}
		const head = headOf(text);
		if (head === text) {
			return images.length === 0 ? content : [...content.filter(({ type }) => type === "text"), ...images];
		}
		const path = await this.#save(text, "txt");
		const lines = `${countLines(head)} of ${countLines(text)} lines`;
		const notice = `[Truncated: the first ${lines} (${sizeOf(head)} of ${sizeOf(text)}). Full output: ${path}]`;
		return [{ type: "text", text: `${head}\n\n${notice}` }, ...images];
	}

	/** Removes the files. */
	async close(): Promise<void> {
		const folder = await this.#folder;
		this.#folder = undefined;
		if (folder !== undefined) {
			await rm(folder, { recursive: true, force: true });
		}
	}

	async #save(data: string | Buffer, ending: string): Promise<string> {
		this.#folder ??= mkdtemp(join(tmpdir(), "xs-mcp-pi-"));
		this.#written += 1;
		const path = join(await this.#folder, `result-${this.#written}.${ending}`);
		await writeFile(path, data, { mode: 0o600 });
		this.#files.push(path);
		if (this.#files.length > MAX_FILES) {
			await rm(this.#files.shift() as string, { force: true });
		}
		return path;
	}
}

/** The first lines within the limits, or the beginning of the first line if that alone is too long. */
function headOf(text: string): string {
	const lines = text.split("\n", MAX_LINES).join("\n");
	const bytes = Buffer.from(lines);
	if (bytes.length <= MAX_BYTES) {
		return lines;
	}
	// A character that the limit cuts in two is left out.
	const cut = new TextDecoder().decode(bytes.subarray(0, MAX_BYTES), { stream: true });
	const end = cut.lastIndexOf("\n");
	return end > 0 ? cut.slice(0, end) : cut;
}

function countLines(text: string): number {
	return text.split("\n").length;
}

function sizeOf(text: string): string {
	const bytes = Buffer.byteLength(text);
	return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
