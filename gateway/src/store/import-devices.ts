import { readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { describeIssues, hashOfOffers, type Offers, type Store } from "xs-mcp-manager/core";
import * as z from "zod";

/** A device's file, of the version before. Files of earlier versions have only the tools. */
const FILE = z.object({
	id: z.string(),
	alias: z.string(),
	tags: z.array(z.string()).default([]),
	board: z.object({ name: z.string(), version: z.string() }),
	tools: z.array(z.looseObject({ name: z.string() })),
	resources: z.array(z.looseObject({ uri: z.string() })).default([]),
	resourceTemplates: z.array(z.looseObject({ uriTemplate: z.string() })).default([]),
	prompts: z.array(z.looseObject({ name: z.string() })).default([]),
	lastSeen: z.number(),
});

/**
 * Reads the devices of a state folder of the version before into a store, once. What the store has stays. Each file is renamed to
 * NAME.imported then; one that is damaged stays, with a warning. Rejects with StoreError.
 */
export async function importDevices(folder: string, store: Store, onWarning: (message: string) => void): Promise<void> {
	const devices = join(folder, "devices");
	for (const name of await namesIn(devices)) {
		if (name.endsWith(".json")) {
			await importDevice(join(devices, name), store, onWarning);
		}
	}
}

async function importDevice(path: string, store: Store, onWarning: (message: string) => void): Promise<void> {
	const { data, error } = FILE.safeParse(parseJson(await readFile(path, "utf8")));
	if (error !== undefined) {
		onWarning(`${path}: not a device, left out: ${describeIssues(error.issues, "content")}`);
		return;
	}
	const { id, alias, tags, board, lastSeen, tools, resources, resourceTemplates, prompts } = data;
	const offers = { tools, resources, resourceTemplates, prompts } as unknown as Offers;
	const hash = hashOfOffers(offers);
	const entries: readonly (readonly [string, unknown])[] = [
		[`offers/${hash}`, offers],
		[`alias/${alias}`, { device: id }],
		...(tags.length > 0 ? [[`tags/${id}`, tags] as const] : []),
		[`device/${id}`, { board, offers: hash, lastSeen }],
	];
	for (const [key, value] of entries) {
		// No other process writes meanwhile: a create-only write of each would take minutes on an SD card.
		if (store.get(key) === undefined) {
			await store.set(key, value);
		}
	}
	await rename(path, `${path}.imported`);
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

async function namesIn(folder: string): Promise<readonly string[]> {
	try {
		return await readdir(folder);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") {
			return [];
		}
		throw error;
	}
}
