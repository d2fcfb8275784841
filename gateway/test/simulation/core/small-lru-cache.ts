import * as real from "lru-cache";

/** More than a world has of anything. */
const MAX = 100;

/** The library's class, with fewer places: it makes all of them in advance, which takes longer than most worlds. */
export class LRUCache<K extends object | string, V extends object | string | true> extends real.LRUCache<K, V> {
	constructor(options: real.LRUCache.OptionsMaxLimit<K, V, unknown>) {
		super({ ...options, max: Math.min(options.max, MAX) });
	}
}
