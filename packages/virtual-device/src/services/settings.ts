import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeService, type Service } from "./service.js";

type Value = string | number | boolean;
type Domains = Record<string, Record<string, Value>>;

/** The firmware's settings, by domain and key. */
export interface SettingsStore extends Service {
	readonly domains: Readonly<Domains>;
}

/**
 * Stores the firmware's settings: in a file, or else in memory.
 *
 * @throws Error if the file exists and is not a JSON object of objects
 */
export function openSettings(file?: string): SettingsStore {
	const domains = file !== undefined && existsSync(file) ? readDomains(file) : {};
	/** Writes a temporary file first, so that a crash leaves the old settings or the new ones. */
	const save = (): void => {
		if (file !== undefined) {
			mkdirSync(dirname(file), { recursive: true });
			const temporary = `${file}.${process.pid}`;
			writeFileSync(temporary, `${JSON.stringify(domains, null, "\t")}\n`);
			renameSync(temporary, file);
		}
	};
	const handlers = {
		set([domain, key, value]: [string, string, Value]) {
			domains[domain] = { ...domains[domain], [key]: value };
			save();
		},
		delete([domain, key]: [string, string]) {
			delete domains[domain]?.[key];
			save();
		},
	};
	return { ...makeService("settings", handlers), domains };
}

function readDomains(file: string): Domains {
	const domains: unknown = JSON.parse(readFileSync(file, "utf8"));
	if (typeof domains !== "object" || domains === null || Array.isArray(domains)) {
		throw new Error(`${file}: expected a JSON object of settings by domain`);
	}
	return domains as Domains;
}
