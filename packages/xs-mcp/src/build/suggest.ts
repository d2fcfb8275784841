import { distance } from "fastest-levenshtein";

/**
 * Returns the known name that is most similar to a name, or starts with it; undefined if none is similar. Ignores case.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
	const wanted = name.toLowerCase();
	const differences = known.map((each) => {
		const found = each.toLowerCase();
		const isPart = wanted.length > 2 && (found.startsWith(wanted) || wanted.startsWith(found));
		// Of several matching beginnings, the longest one counts.
		const cost = isPart ? 2 - Math.min(wanted.length, found.length) / 100 : Number.POSITIVE_INFINITY;
		return [Math.min(cost, distance(wanted, found)), each] as const;
	});
	const [difference, found] = differences.sort(([one], [other]) => one - other)[0] ?? [];
	return (difference ?? Number.POSITIVE_INFINITY) <= Math.max(2, name.length / 3) ? found : undefined;
}

/** Returns the end of an error about an unknown name, which suggests a similar one; empty without one. */
export function didYouMean(name: string, known: readonly string[]): string {
	const similar = nearest(name, known);
	return similar === undefined ? "" : `; did you mean ${similar}?`;
}

/** Words of ESPHome's configuration, with our options of the same meaning, or the reason why there is none. */
const ESPHOME: Readonly<Record<string, readonly string[] | string>> = {
	baud_rate: ["baud"],
	delayed_on: ["debounce"],
	delayed_on_off: ["debounce"],
	device_class: ["kind"],
	filters: ["from", "scale"],
	frequency: ["hz"],
	i2c_id: ["bus"],
	id: "the name before the function is the id",
	inverted: ["activeLow", "activeHigh", "active"],
	max_level: ["max"],
	max_power: ["max"],
	min_level: ["min"],
	min_power: ["min"],
	mode: ["pull"],
	multiply: ["scale", "each"],
	name: ["title"],
	num_leds: ["length"],
	number: ["pin"],
	pin_a: ["pin"],
	platform: "the function says it, such as relay(…) or analog(…)",
	restore_mode: "outputs are off when the device starts",
	rgb_order: ["order"],
	rx_pin: ["rx"],
	tx_pin: ["tx"],
	unit_of_measurement: ["unit"],
	update_interval: ["interval"],
};

/** Seconds of the units in which ESPHome writes times. */
const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, sec: 1, min: 60, h: 3_600 };

/**
 * Adds the name or value that was probably intended to an error, if it can be guessed.
 *
 * @param exported names that a file can import
 */
export function withSuggestion(message: string, exported: readonly string[]): string {
	const guess = ofName(message) ?? ofExport(message, exported) ?? ofValue(message);
	return guess === undefined ? message : `${message}; ${guess}`;
}

function ofExport(message: string, exported: readonly string[]): string | undefined {
	const [, absent, imported] = /^(\w+) is not defined$|for import "(\w+)"$/.exec(message) ?? [];
	const word = absent ?? imported;
	const similar = word && nearest(word, exported);
	return similar && (similar === word ? `import { ${word} } from "xs-mcp"` : `did you mean ${similar}?`);
}

function ofName(message: string): string | undefined {
	const [, unknown, names = ""] = /unknown option (\S+), expected (.*)$/.exec(message) ?? [];
	if (unknown === undefined) {
		return undefined;
	}
	const known = names.split(", ");
	const word = Object.hasOwn(ESPHOME, unknown) ? ESPHOME[unknown] : undefined;
	if (typeof word === "string") {
		return `${unknown} is ESPHome's: ${word}`;
	}
	const same = word?.find((each) => known.includes(each));
	if (same !== undefined) {
		return `${unknown} is ESPHome's: did you mean ${same}?`;
	}
	const similar = nearest(unknown, known);
	return similar && `did you mean ${similar}?`;
}

function ofValue(message: string): string | undefined {
	const [, pin] = /expected the number of a pin, got "(?:gpio|io|pin)?\s*(\d+)"$/i.exec(message) ?? [];
	const [, milli, amount, unit = ""] = / (milli)?seconds, got "([\d.]+) ?(ms|s|sec|min|h)"$/.exec(message) ?? [];
	const value = pin ?? (amount && Number(amount) * (SECONDS[unit] ?? 1) * (milli === undefined ? 1 : 1_000));
	return value === undefined ? undefined : `did you mean ${value}?`;
}
