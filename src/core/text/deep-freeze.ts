/** Freezes a value and all it holds, for flash: a flat one needs only `Object.freeze`. Only XS freezes deeply. */
export const deepFreeze = <T extends object>(value: T): T =>
	(Object.freeze as (value: T, deep: boolean) => T)(value, true);
