import type { ServerEdit, ServerRegistry } from "xs-mcp-manager/core";
import type { Entry } from "./messages.js";

/** An operator's change of a device: another alias, other tags, or that it was forgotten. */
export type Edit = ServerEdit | "forgotten";

/** Changes that were made at this gateway and are not in the bucket yet: NATS may be away, or others may write first. */
export class Edits {
	readonly #registry: ServerRegistry;
	readonly #warn: (message: string) => void;
	/** By device. */
	readonly #waiting = new Map<string, Edit>();
	/** Devices that have lost their alias to another one whose entry is newer. Their default alias waits to be written. */
	readonly #losers = new Set<string>();

	constructor(registry: ServerRegistry, warn: (message: string) => void) {
		this.#registry = registry;
		this.#warn = warn;
		registry.on("edited", ({ id }, change) => {
			this.#waiting.set(id, { ...this.#editOf(id), ...change });
			this.#losers.delete(id);
		});
		registry.on("forgotten", (id) => this.#waiting.set(id, "forgotten"));
	}

	/** By device. */
	get waiting(): ReadonlyMap<string, Edit> {
		return this.#waiting;
	}

	/** Whether the operator has forgotten a device, and it has not connected since. */
	isForgotten(id: string): boolean {
		return this.#waiting.get(id) === "forgotten" && this.#registry.find(id) === undefined;
	}

	/**
	 * Applies the alias and tags of an entry in the bucket, except where a change is still to be written. Of two entries with the same
	 * alias, the one that was written last has it.
	 */
	adopt({ id, alias, tags }: Entry): void {
		if (this.#registry.find(id) === undefined) {
			return;
		}
		const edit = this.#losers.delete(id) ? { ...this.#editOf(id), alias: undefined } : this.#editOf(id);
		// Each by itself: an alias that another device has here does not keep the tags away.
		for (const change of [{ alias: edit.alias ?? alias }, { tags: edit.tags ?? tags }]) {
			try {
				this.#noteLoser(this.#registry.relabel(id, change));
			} catch (error) {
				this.#warn(`${id}: its alias or tags of another gateway cannot be used here: ${(error as Error).message}`);
			}
		}
		const isWritten = (edit.alias ?? alias) === alias && String(edit.tags ?? tags) === String(tags);
		if (isWritten) {
			this.#waiting.delete(id);
		}
	}

	/** A change is in the bucket, or no longer wanted. */
	done(id: string): void {
		this.#waiting.delete(id);
	}

	/** Else its entry would give it its old alias where it is read later. */
	#noteLoser(id: string | undefined): void {
		const alias = id && this.#registry.find(id)?.alias;
		if (id !== undefined && this.#editOf(id).alias === undefined) {
			this.#waiting.set(id, { ...this.#editOf(id), alias });
			this.#losers.add(id);
		}
	}

	#editOf(id: string): ServerEdit {
		const edit = this.#waiting.get(id);
		return edit === "forgotten" || edit === undefined ? {} : edit;
	}
}
