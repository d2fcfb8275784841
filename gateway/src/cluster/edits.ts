import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerRegistry } from "xs-mcp-manager/core";
import * as z from "zod";
import { replaceFileSync } from "../config/atomic-file.js";
import type { Entry } from "./messages.js";

const serverEdit = z.object({
	alias: z.string().optional(),
	/** When the alias was given, ms since 1970. */
	aliasSetAt: z.number().optional(),
	tags: z.array(z.string()).readonly().optional(),
});

type ServerEdit = z.infer<typeof serverEdit>;

/** An operator's change of a device: another alias, other tags, or that it was forgotten. */
export type Edit = ServerEdit | "forgotten";

const editsFile = z.object({
	version: z.literal(1),
	edits: z.record(z.string(), z.union([serverEdit, z.literal("forgotten")])),
});

/**
 * Changes that were made at this gateway and are not in the bucket yet: NATS may be unreachable, or another gateway may write
 * first. A file has them, too: a gateway that was killed writes them to the bucket after its next start.
 */
export class Edits {
	readonly #registry: ServerRegistry;
	readonly #path: string;
	readonly #warn: (message: string) => void;
	/** By device. */
	readonly #waiting: Map<string, Edit>;
	/** The content of the file. */
	#saved = "";
	#warned = "";
	#isSaveDue = false;
	/** Devices that have lost their alias to another one whose entry is newer. Their default alias waits to be written. */
	readonly #losers = new Set<string>();

	/**
	 * @param folder the gateway's state folder; a damaged file counts as empty, with a warning
	 * @param now the time for the next alias that is given, ms since 1970
	 */
	constructor(registry: ServerRegistry, folder: string, now: () => number, warn: (message: string) => void) {
		this.#registry = registry;
		this.#path = join(folder, "unshared-edits.json");
		this.#warn = warn;
		this.#waiting = read(this.#path, warn);
		this.#saved = this.#text;
		registry.on("edited", ({ id }, change) => {
			const time = change.alias !== undefined && { aliasSetAt: now() };
			this.#waiting.set(id, { ...this.#editOf(id), ...change, ...time });
			this.#losers.delete(id);
			this.#saveSoon();
		});
		registry.on("forgotten", (id) => {
			this.#waiting.set(id, "forgotten");
			this.#saveSoon();
		});
	}

	/** By device. */
	get waiting(): ReadonlyMap<string, Edit> {
		return this.#waiting;
	}

	/** Whether the operator has forgotten a device, and it has not connected since. */
	isForgotten(id: string): boolean {
		return this.#waiting.get(id) === "forgotten" && this.#registry.find(id) === undefined;
	}

	/** When the operator has given this alias to a device, ms since 1970; undefined if the bucket has it, or another one was given. */
	aliasSetAt(id: string, alias: string): number | undefined {
		const edit = this.#editOf(id);
		return edit.alias === alias && !this.#losers.has(id) ? (edit.aliasSetAt ?? 0) : undefined;
	}

	/** The alias of an entry's device: that of a change that is still to be written, unless the entry's was given later. */
	aliasFor({ id, alias, aliasSetAt = 0 }: Entry): { readonly alias: string; readonly aliasSetAt: number } {
		const { alias: given } = this.#editOf(id);
		const time = given === undefined ? undefined : this.aliasSetAt(id, given);
		return given !== undefined && time !== undefined && time >= aliasSetAt
			? { alias: given, aliasSetAt: time }
			: { alias, aliasSetAt };
	}

	/** The alias that a device was given is in the bucket, or another one was given later. */
	dropAlias(id: string): void {
		const { alias, tags } = this.#editOf(id);
		this.#losers.delete(id);
		if (alias !== undefined) {
			this.#set(id, { tags });
		}
	}

	/**
	 * Applies the alias and tags of an entry in the bucket, except where a change is still to be written. Another device that has the
	 * alias loses it.
	 */
	adopt(entry: Entry): void {
		const { id } = entry;
		if (this.#registry.find(id) === undefined) {
			return;
		}
		const { alias, aliasSetAt } = this.aliasFor(entry);
		if (alias === entry.alias && aliasSetAt === (entry.aliasSetAt ?? 0)) {
			this.dropAlias(id);
		}
		const edit = this.#editOf(id);
		const { tags = entry.tags } = edit;
		// Each by itself: an alias that another device has here does not keep the tags away.
		for (const change of [{ alias }, { tags }]) {
			try {
				this.#noteLoser(this.#registry.relabel(id, change));
			} catch (error) {
				this.#warn(`${id}: its alias or tags of another gateway cannot be used here: ${(error as Error).message}`);
			}
		}
		if (String(tags) === String(entry.tags)) {
			this.#set(id, { alias: edit.alias, aliasSetAt: edit.aliasSetAt });
		}
	}

	/** A change is in the bucket, or no longer wanted. */
	done(id: string): void {
		this.#waiting.delete(id);
	}

	/** Writes the file if its content has changed. Changes remain in memory if it cannot be written. */
	save(): void {
		const text = this.#text;
		if (text === this.#saved) {
			return;
		}
		try {
			replaceFileSync(this.#path, text);
			this.#saved = text;
			this.#warned = "";
		} catch (error) {
			const { message } = error as Error;
			if (message !== this.#warned) {
				this.#warned = message;
				this.#warn(`cluster: changes of devices are lost if this gateway is killed before NATS has them: ${message}`);
			}
		}
	}

	/** Saves once for all changes of this turn: thousands of devices may be forgotten together. */
	#saveSoon(): void {
		if (!this.#isSaveDue) {
			this.#isSaveDue = true;
			queueMicrotask(() => {
				this.#isSaveDue = false;
				this.save();
			});
		}
	}

	get #text(): string {
		// Without the default alias of a loser: the device loses its alias again when the entries are read.
		const edits = [...this.#waiting].map(([id, edit]) => {
			return [id, this.#losers.has(id) ? { tags: this.#editOf(id).tags } : edit];
		});
		return `${JSON.stringify({ version: 1, edits: Object.fromEntries(edits) })}\n`;
	}

	/** Else its entry would give it its old alias where it is read later. */
	#noteLoser(id: string | undefined): void {
		const alias = id && this.#registry.find(id)?.alias;
		if (id !== undefined && this.#editOf(id).alias === undefined) {
			this.#waiting.set(id, { ...this.#editOf(id), alias });
			this.#losers.add(id);
		}
	}

	#set(id: string, edit: ServerEdit): void {
		if (edit.alias === undefined && edit.tags === undefined) {
			this.#waiting.delete(id);
		} else {
			this.#waiting.set(id, edit);
		}
	}

	#editOf(id: string): ServerEdit {
		const edit = this.#waiting.get(id);
		return edit === "forgotten" || edit === undefined ? {} : edit;
	}
}

function read(path: string, warn: (message: string) => void): Map<string, Edit> {
	try {
		return new Map(Object.entries(editsFile.parse(JSON.parse(readFileSync(path, "utf8"))).edits));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
			warn(`${path}: damaged, so its changes of devices are lost: ${(error as Error).message}`);
		}
		return new Map();
	}
}
