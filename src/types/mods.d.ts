/** Finds the mod that is installed beside the firmware. Undefined without one. */
export function findMod(): { load(): unknown } | undefined;
