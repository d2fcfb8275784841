import { type FileHandle, readdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { openFile } from "./firmware-download.js";

/** Boards of one folder, and bytes of a manifest. */
const MAX_BOARDS = 200;
const MAX_MANIFEST = 65_536;

/** Files of one image, and builds in a manifest: one for each chip. */
const MAX_PARTS = 16;
const MAX_BUILDS = 16;

/** Largest flash of these chips, in bytes. */
const MAX_FLASH = 64 * 1024 * 1024;

/** A name without a folder: neither ".." nor a separator. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,100}$/;

const TEXT = z.string().max(100);

/** The members of ESP Web Tools' manifest.json that are read: https://esphome.github.io/esp-web-tools/ */
const MANIFEST = z.object({
	name: TEXT,
	version: TEXT,
	builds: z
		.array(
			z.object({
				chipFamily: TEXT,
				parts: z
					.array(z.object({ path: z.string().regex(NAME), offset: z.int().min(0).max(MAX_FLASH) }))
					.min(1)
					.max(MAX_PARTS),
			}),
		)
		.min(1)
		.max(MAX_BUILDS),
});

/** An image for one board, as a web flasher takes it. */
export type FlashImage = z.infer<typeof MANIFEST> & {
	/** The name of its folder. */
	readonly board: string;
};

/**
 * The images of a release in a folder, by their boards: one folder for each, with manifest.json, as `npm run firmware` makes them. A
 * folder without a valid manifest has none. Rejects if the folder cannot be read.
 */
export async function listFlashImages(folder: string): Promise<readonly FlashImage[]> {
	const boards = (await readdir(folder, { withFileTypes: true }))
		.filter((entry) => entry.isDirectory() && NAME.test(entry.name))
		.map(({ name }) => name)
		.sort()
		.slice(0, MAX_BOARDS);
	const images = await Promise.all(boards.map((board) => readImage(folder, board)));
	return images.flatMap((image) => image ?? []);
}

/** Opens a file that a board's manifest lists. Returns undefined if it does not exist. */
export async function openFlashImage(folder: string, board: string, file: string): Promise<FileHandle | undefined> {
	const image = NAME.test(board) ? await readImage(folder, board) : undefined;
	const isPart = image?.builds.some(({ parts }) => parts.some(({ path }) => path === file));
	return isPart ? await openFile(join(folder, board, file), MAX_FLASH).catch(() => undefined) : undefined;
}

async function readImage(folder: string, board: string): Promise<FlashImage | undefined> {
	const file = await openFile(join(folder, board, "manifest.json"), MAX_MANIFEST).catch(() => undefined);
	try {
		const { data } = MANIFEST.safeParse(JSON.parse((await file?.readFile("utf8")) ?? "null"));
		return data && { ...data, board };
	} catch {
		return undefined;
	} finally {
		await file?.close();
	}
}
