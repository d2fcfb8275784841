import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { replaceFile } from "../config/atomic-file.js";

const RECORD = z.object({
	/** Derived from what the subscription is. */
	id: z.string(),
	/** The token's hash. */
	holder: z.string(),
	/** Alias or id: the client's endpoint is that of one server. */
	server: z.string().optional(),
	name: z.string(),
	arguments: z.record(z.string(), z.unknown()),
	url: z.string(),
	secret: z.string(),
	/** Everything up to here was accepted. */
	cursor: z.string(),
	/** When it ends, in milliseconds since 1970. */
	expires: z.number(),
});

/** A subscription by webhook, as it is stored. */
export type WebhookRecord = Readonly<z.infer<typeof RECORD>>;

export interface WebhookListener {
	/** A subscription is stored, or has changed. `isOurs`: this gateway delivers it. */
	readonly onRecord: (record: WebhookRecord, isOurs: boolean) => void;
	readonly onRemoved: (id: string) => void;
}

/** Where subscriptions are stored. They outlive the process. */
export interface WebhookStore {
	/** Reports the stored subscriptions, and from now on those that other gateways change. */
	open(listener: WebhookListener): void;
	/** Stores a subscription that is new or renewed. Rejects if it cannot. */
	put(record: WebhookRecord): Promise<void>;
	/** Stores soon how far a subscription is. A process that is killed repeats what came since. */
	moved(id: string, cursor: string): void;
	/** Rejects if it cannot. */
	remove(id: string): Promise<void>;
	/** Settles when everything is stored. */
	close(): Promise<void>;
}

/** Milliseconds between two writes of how far subscriptions are. */
const SAVE_INTERVAL = 1_000;

interface WebhookFileOptions {
	readonly folder: string;
	/** Is told of each attempt to write. */
	readonly watch: (write: Promise<unknown>) => Promise<unknown>;
	readonly onWarning: (message: string) => void;
}

/** The subscriptions of a gateway that is alone: a file in its state folder. */
export class WebhookFile implements WebhookStore {
	readonly #options: WebhookFileOptions;
	readonly #path: string;
	readonly #records = new Map<string, WebhookRecord>();
	#timer: NodeJS.Timeout | undefined;
	#saving: Promise<void> = Promise.resolve();

	constructor(options: WebhookFileOptions) {
		this.#options = options;
		this.#path = join(options.folder, "webhooks.json");
	}

	open({ onRecord }: WebhookListener): void {
		for (const record of this.#read()) {
			this.#records.set(record.id, record);
			onRecord(record, true);
		}
	}

	async put(record: WebhookRecord): Promise<void> {
		this.#records.set(record.id, record);
		await this.#save();
	}

	moved(id: string, cursor: string): void {
		const record = this.#records.get(id);
		if (record !== undefined) {
			this.#records.set(id, { ...record, cursor });
			this.#timer ??= setTimeout(() => void this.#save().catch(() => {}), SAVE_INTERVAL).unref();
		}
	}

	async remove(id: string): Promise<void> {
		this.#records.delete(id);
		await this.#save();
	}

	async close(): Promise<void> {
		await this.#save().catch(() => {});
	}

	#read(): WebhookRecord[] {
		try {
			const records = z.array(RECORD).parse(JSON.parse(readFileSync(this.#path, "utf8")));
			return records.filter(({ expires }) => expires > Date.now());
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
				const { message } = error as Error;
				this.#options.onWarning(`${this.#path}: damaged, so its subscriptions to events have ended: ${message}`);
			}
			return [];
		}
	}

	/** Rejects if the disk cannot be written. One write after the other. */
	#save(): Promise<void> {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		const write = async (): Promise<void> => {
			await this.#options.watch(replaceFile(this.#path, JSON.stringify([...this.#records.values()])));
		};
		this.#saving = this.#saving.then(write, write);
		return this.#saving;
	}
}
