import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { describeIssues, hashOfOffers, type Offers, type Store } from "xs-mcp-manager/core";
import * as z from "zod";
import { TOKEN_KINDS, tokenKey, tokenRecordSchema } from "../config/access.js";
import { openDeviceKey } from "../devices/device-key.js";
import { seal } from "../events/webhook-store.js";
import { ConfigurationError } from "../plugin.js";
import { namesIn } from "./file-store.js";

/** A client was called "host" in the files of version 0.1. */
const kind = z.preprocess((word) => (word === "host" ? "client" : word), z.enum(TOKEN_KINDS));

const TOKENS = z.object({ version: z.literal(1), tokens: z.array(tokenRecordSchema.extend({ kind })) });
const KINDS = z.object({ version: z.literal(1), kinds: z.array(kind) });
const USES = z.object({ version: z.literal(1), uses: z.record(z.string(), z.number()) });

const WEBHOOKS = z.array(
	z.object({
		id: z.string(),
		holder: z.string(),
		server: z.string().optional(),
		name: z.string(),
		arguments: z.record(z.string(), z.unknown()),
		url: z.string(),
		secret: z.string(),
		cursor: z.string(),
		expires: z.number(),
	}),
);

/** A device's file. Files of earlier versions have only the tools. */
const DEVICE = z.object({
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
 * Reads the files of the version before into the store, and renames them to NAME.imported. A damaged file of a device stays, with a
 * warning. Rejects with ConfigurationError if another file cannot be read, and with StoreError.
 */
export async function importState(
	folder: string,
	store: Store,
	onWarning: (message: string) => void = () => {},
): Promise<void> {
	await importTokens(folder, store);
	await importWebhooks(folder, store);
	await importDevices(folder, store, onWarning);
}

async function importTokens(folder: string, store: Store): Promise<void> {
	await importFile(folder, "tokens-needed.json", KINDS, async ({ kinds }) => {
		for (const each of kinds) {
			await create(store, `needed/${each}`, true);
		}
	});
	const names = new Map<string, string>();
	await importFile(folder, "tokens.json", TOKENS, async ({ tokens }) => {
		for (const record of tokens) {
			await create(store, tokenKey(record), record);
			names.set(record.sha256, record.name);
		}
	});
	await importFile(folder, "tokens-used.json", USES, async ({ uses }) => {
		for (const [hash, used] of Object.entries(uses)) {
			const name = names.get(hash);
			if (name !== undefined) {
				await create(store, `token-use/${name}`, used);
			}
		}
	});
	for (const name of ["sign-in-code.json", "tokens-shared.json"]) {
		await rm(join(folder, name), { force: true });
	}
}

async function importWebhooks(folder: string, store: Store): Promise<void> {
	await importFile(folder, join("events", "webhooks.json"), WEBHOOKS, async (records) => {
		const key = openDeviceKey(folder).derive("webhooks");
		for (const record of records) {
			await create(store, `webhook/${record.id}`, { gateway: "", incarnation: "", sealed: seal(key, record) });
		}
	});
}

async function importDevices(folder: string, store: Store, onWarning: (message: string) => void): Promise<void> {
	for (const name of namesIn(join(folder, "devices")).filter((each) => each.endsWith(".json"))) {
		try {
			await importFile(folder, join("devices", name), DEVICE, (device) => storeDevice(store, device));
		} catch (error) {
			if (!(error instanceof ConfigurationError)) {
				throw error;
			}
			onWarning(`${error.message}: the device is left out`);
		}
	}
}

async function storeDevice(store: Store, device: z.infer<typeof DEVICE>): Promise<void> {
	const { id, alias, tags, board, lastSeen, ...lists } = device;
	const offers = lists as unknown as Offers;
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
}

async function create(store: Store, key: string, value: unknown): Promise<void> {
	await store.update(key, (entry) => (entry === undefined ? value : undefined));
}

/** Does nothing if the file does not exist. */
async function importFile<T>(
	folder: string,
	name: string,
	schema: z.ZodType<T>,
	store: (content: T) => Promise<void>,
): Promise<void> {
	const path = join(folder, name);
	let content: unknown;
	try {
		content = JSON.parse(await readFile(path, "utf8"));
	} catch (error) {
		// Whoever uses the folder reports that it is a file.
		if (/^(ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? "")) {
			return;
		}
		throw new ConfigurationError([`${path}: cannot be read: ${(error as Error).message}`], { cause: error });
	}
	const { data, error } = schema.safeParse(content);
	if (error !== undefined) {
		throw new ConfigurationError([`${path}: ${describeIssues(error.issues, "content")}`], { cause: error });
	}
	await store(data);
	await rename(path, `${path}.imported`);
}
