import { type Entry, Store, StoreError } from "./store.js";

/** A store that ends with the process. */
export class MemoryStore extends Store {
	#revision = 0;

	async set(key: string, value: unknown, expected?: number): Promise<Entry> {
		this.#expect(key, expected);
		this.#revision += 1;
		const entry = { key, value, revision: this.#revision };
		this.apply(key, entry);
		return entry;
	}

	async delete(key: string, expected?: number): Promise<void> {
		this.#expect(key, expected);
		this.apply(key, undefined);
	}

	#expect(key: string, expected: number | undefined): void {
		const found = this.get(key)?.revision ?? 0;
		if (expected !== undefined && expected !== found) {
			throw new StoreError("conflict", `${key}: changed by another writer`);
		}
	}
}
