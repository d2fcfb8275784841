import { boot, send } from "./bridge.js";

type Value = string | number | boolean;

const domains = new Map(
	Object.entries(boot.settings).map(([domain, values]) => [domain, new Map(Object.entries(values))]),
);

/** Stands in for Moddable's `preference`: Node stores the values. */
const Preference = {
	get: (domain: string, key: string): Value | undefined => domains.get(domain)?.get(key),
	set(domain: string, key: string, value: Value): void {
		const values = domains.get(domain) ?? new Map<string, Value>();
		domains.set(domain, values);
		values.set(key, value);
		send(["settings.set", domain, key, value]);
	},
	delete(domain: string, key: string): void {
		domains.get(domain)?.delete(key);
		send(["settings.delete", domain, key]);
	},
};

export default Preference;
