import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Sdk, SdkError } from "./sdk.js";

/** Measures fonts as the SDK's tools compress them, each once. */
export class FontSizes {
	readonly #sdk: Sdk;
	readonly #bytes = new Map<string, number>();

	constructor(sdk: Sdk) {
		this.#sdk = sdk;
	}

	/**
	 * The bytes of fonts in an image.
	 *
	 * @param fonts their paths, without `.fnt` and `.png`
	 * @throws SdkError if a tool of the SDK fails
	 */
	sum(fonts: readonly string[]): number {
		return fonts.reduce((sum, font) => sum + this.#bytesOf(font), 0);
	}

	#bytesOf(font: string): number {
		const known = this.#bytes.get(font);
		if (known !== undefined) {
			return known;
		}
		const folder = mkdtempSync(join(tmpdir(), "xs-mcp-font-"));
		try {
			const name = basename(font);
			this.#run("png2bmp", [`${font}.png`, "-a", "-o", folder, "-t"]);
			this.#run("compressbmf", [`${font}.fnt`, "-i", join(folder, `${name}-alpha.bmp`), "-o", folder]);
			const bytes = statSync(join(folder, `${name}.bf4`)).size;
			this.#bytes.set(font, bytes);
			return bytes;
		} finally {
			rmSync(folder, { recursive: true });
		}
	}

	#run(tool: string, args: readonly string[]): void {
		const { status, stderr, error } = spawnSync(join(this.#sdk.bin, tool), args, { encoding: "utf8" });
		if (status !== 0) {
			throw new SdkError(`${tool} failed: ${error?.message ?? stderr.trim()}`);
		}
	}
}
