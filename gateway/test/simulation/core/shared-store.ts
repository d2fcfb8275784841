import { MemoryStore, type Store } from "xs-mcp-manager/core";

let store = new MemoryStore();

/** The store of all gateways of a world. */
export function sharedStore(): Store {
	return store;
}

export function resetStore(): void {
	store = new MemoryStore();
}
