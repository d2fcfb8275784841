import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { describeIssues, isConflict, type Store } from "xs-mcp-manager/core";
import * as z from "zod";
import { ConfigurationError } from "../config/configuration-error.js";
import { TOKEN_KINDS, tokenKey, tokenRecordSchema } from "../config/token-record.js";
import { DeviceKey } from "../devices/device-key.js";
import { seal } from "../events/webhook-store.js";
import { importDevices } from "./import-devices.js";

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

/**
 * Reads the files of the version before into the store, once. Each is renamed to NAME.imported when the store has its content.
 *
 * Rejects with ConfigurationError if a file cannot be read, and with StoreError.
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
		const key = new DeviceKey(folder).derive("webhooks");
		for (const record of records) {
			await create(store, `webhook/${record.id}`, { gateway: "", incarnation: "", sealed: seal(key, record) });
		}
	});
}

async function create(store: Store, key: string, value: unknown): Promise<void> {
	try {
		await store.set(key, value, 0);
	} catch (error) {
		if (!isConflict(error)) {
			throw error;
		}
	}
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
