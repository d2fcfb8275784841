/** Freezes a nested value for flash; a flat one needs only `Object.freeze`. Only XS freezes all levels. */
export const deepFreeze = <T extends object>(value: T): T =>
	(Object.freeze as (value: T, deep: boolean) => T)(value, true);
