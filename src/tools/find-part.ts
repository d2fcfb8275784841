/**
 * The part of a board that a call names. The name is optional if the board has one such part.
 *
 * @param argument the name of the argument that names it
 * @throws Error with the argument's name and the existing parts
 */
export const findPart = <Part>(
	parts: Readonly<Record<string, Part>>,
	argument: string,
	name: string | undefined,
): Part => {
	const names = Object.keys(parts);
	const wanted = name ?? (names.length === 1 ? names[0] : undefined);
	const part = wanted !== undefined && names.includes(wanted) ? parts[wanted] : undefined;
	if (part === undefined) {
		const wrong = name === undefined ? "" : `, not ${JSON.stringify(name)}`;
		throw new Error(`${argument}: expected one of ${names.join(", ")}${wrong}`);
	}
	return part;
};
