/** A virtual device runs other firmware instead of mods. */
export function findMod(): undefined {
	return undefined;
}
