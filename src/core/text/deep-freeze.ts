/** Freezes a value and all it holds, for flash. Only XS freezes deeply; other engines the value itself. */
export const deepFreeze = <T extends object>(value: T): T =>
	(Object.freeze as (value: T, deep: boolean) => T)(value, true);
