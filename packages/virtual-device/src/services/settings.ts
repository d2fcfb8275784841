import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Service } from "./service.js";

type Value = string | number | boolean;
type Domains = Record<string, Record<string, Value>>;

/** Stores the firmware's settings: in a file, or else in memory. */
export class SettingsStore implements Service {
	readonly prefix = "settings";
	readonly #file: string | undefined;
	readonly #domains: Domains;

	/** @throws Error if the file exists and is not a JSON object of objects */
	constructor(file?: string) {
		this.#file = file;
		this.#domains = file !== undefined && existsSync(file) ? readDomains(file) : {};
	}

	/** The stored values, by domain and key. */
	get domains(): Readonly<Domains> {
		return this.#domains;
	}

	take(kind: string, args: readonly unknown[]): void {
		const [domain, key, value] = args as [string, string, Value];
		const values = this.#domains[domain] ?? {};
		this.#domains[domain] = values;
		if (kind === "set") {
			values[key] = value;
		} else {
			delete values[key];
		}
		this.#save();
	}

	close(): void {}

	/** Through a temporary file, so that a crash leaves the old settings or the new ones. */
	#save(): void {
		if (this.#file === undefined) {
			return;
		}
		mkdirSync(dirname(this.#file), { recursive: true });
		const temporary = `${this.#file}.${process.pid}`;
		writeFileSync(temporary, `${JSON.stringify(this.#domains, null, "\t")}\n`);
		renameSync(temporary, this.#file);
	}
}

function readDomains(file: string): Domains {
	const domains: unknown = JSON.parse(readFileSync(file, "utf8"));
	if (typeof domains !== "object" || domains === null || Array.isArray(domains)) {
		throw new Error(`${file}: expected a JSON object of settings by domain`);
	}
	return domains as Domains;
}
