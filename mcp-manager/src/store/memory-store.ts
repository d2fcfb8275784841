import { type Entry, Store } from "./store.js";

/** A store that ends with the process. */
export class MemoryStore extends Store {
	#revision = 0;

	async set(key: string, value: unknown, expected?: number): Promise<Entry> {
		this.expect(key, expected);
		this.#revision += 1;
		const entry = { key, value, revision: this.#revision };
		this.apply(key, entry);
		return entry;
	}

	async delete(key: string, expected?: number): Promise<void> {
		this.expect(key, expected);
		this.apply(key, undefined);
	}
}
