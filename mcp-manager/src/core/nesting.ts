/** Levels of arrays and objects in a message of a server or a client. Deeper values could not be serialized again. */
export const MAX_NESTING = 100;

/** Whether arrays and objects nest deeper in a value of JSON than that many levels. */
export function nestsDeeper(value: unknown, levels: number): boolean {
	if (typeof value !== "object" || value === null) {
		return false;
	}
	if (levels === 0) {
		return true;
	}
	for (const item of Object.values(value)) {
		if (nestsDeeper(item, levels - 1)) {
			return true;
		}
	}
	return false;
}
