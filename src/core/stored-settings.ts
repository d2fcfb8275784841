import type { Settings, SettingValue } from "../hardware/hardware.js";
import { utf8Length } from "./text/utf8.js";

/** The SDK's module `preference`. On a chip it throws when flash is full or cannot be read. */
export interface SettingsStore extends Pick<Settings, "get"> {
	set(domain: string, key: string, value: SettingValue): void;
	delete(domain: string, key: string): void;
}

/** Largest text that is stored, in bytes: all values of a chip share 16 KB of flash (NVS). */
const MAX_TEXT = 2_000;

/** Domains without which a device loses its network or its identity. */
const VITAL: readonly string[] = Object.freeze(["xs-mcp", "board"]);

/**
 * Values in a chip's flash. Never throws: a store that fails must not end the machine. A value that cannot be read is
 * undefined. Only changes are written.
 *
 * The SDK erases a value before it writes the new one, so a power cut between the two loses it. A vital value is first
 * written to a second domain, which is read where the first has none.
 */
export class StoredSettings implements Settings {
	private readonly store: SettingsStore;
	private readonly log: (message: string) => void;
	private canRead = true;

	constructor(store: SettingsStore, log: (message: string) => void) {
		this.store = store;
		this.log = log;
	}

	get(domain: string, key: string): SettingValue | ArrayBuffer | undefined {
		try {
			const value = this.store.get(domain, key) ?? (isVital(domain) ? this.store.get(copyOf(domain), key) : undefined);
			this.canRead = true;
			return value;
		} catch (error) {
			if (this.canRead) {
				this.canRead = false;
				this.log(`settings: ${domain}/${key} could not be read: ${String(error)}`);
			}
			return undefined;
		}
	}

	set(domain: string, key: string, value: SettingValue): boolean {
		if (this.get(domain, key) === value) {
			return true;
		}
		try {
			if (typeof value === "string" && utf8Length(value) > MAX_TEXT) {
				throw new RangeError(`longer than ${MAX_TEXT} bytes`);
			}
			if (isVital(domain)) {
				this.store.set(copyOf(domain), key, value);
			}
			this.store.set(domain, key, value);
			if (isVital(domain)) {
				this.store.delete(copyOf(domain), key);
			}
			return true;
		} catch (error) {
			this.log(`settings: ${domain}/${key} could not be stored: ${String(error)}`);
			// It counts as stored if the copy was written.
			return this.get(domain, key) === value;
		}
	}

	delete(domain: string, key: string): void {
		if (this.get(domain, key) === undefined) {
			return;
		}
		try {
			if (isVital(domain)) {
				this.store.delete(copyOf(domain), key);
			}
			this.store.delete(domain, key);
		} catch (error) {
			this.log(`settings: ${domain}/${key} could not be deleted: ${String(error)}`);
		}
	}
}

const isVital = (domain: string): boolean => VITAL.includes(domain);

const copyOf = (domain: string): string => `${domain}~`;
