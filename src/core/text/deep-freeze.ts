/**
 * Freezes a value and all it holds, so that a module that is preloaded keeps it in flash. XS goes deep when asked to;
 * other engines freeze the value itself.
 */
export const deepFreeze = <T extends object>(value: T): T =>
	(Object.freeze as (value: T, deep: boolean) => T)(value, true);
