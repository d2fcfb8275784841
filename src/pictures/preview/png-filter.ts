/**
 * Takes back what an encoder did to a row to make it compress better, in place (PNG specification, clause 9).
 *
 * @param filter 0 to 4
 * @param above the row above; zeros above the first one
 * @param distance bytes from a pixel to the one before
 * @throws Error if there is no such filter
 */
export const unfilter = (filter: number, row: Uint8Array, above: Uint8Array, distance: number): void => {
	switch (filter) {
		case 0:
			return;
		case 1:
			for (let at = distance; at < row.length; at += 1) {
				row[at] = (row[at] as number) + (row[at - distance] as number);
			}
			return;
		case 2:
			for (let at = 0; at < row.length; at += 1) {
				row[at] = (row[at] as number) + (above[at] as number);
			}
			return;
		case 3:
			for (let at = 0; at < row.length; at += 1) {
				row[at] = (row[at] as number) + (((row[at - distance] ?? 0) + (above[at] as number)) >> 1);
			}
			return;
		case 4:
			for (let at = 0; at < row.length; at += 1) {
				const nearest = paeth(row[at - distance] ?? 0, above[at] as number, above[at - distance] ?? 0);
				row[at] = (row[at] as number) + nearest;
			}
			return;
		default:
			throw new Error("PNG damaged");
	}
};

/** Which of its neighbours is nearest to what they let expect. */
const paeth = (left: number, up: number, corner: number): number => {
	const toLeft = Math.abs(up - corner);
	const toUp = Math.abs(left - corner);
	const toCorner = Math.abs(left + up - 2 * corner);
	if (toLeft <= toUp && toLeft <= toCorner) {
		return left;
	}
	return toUp <= toCorner ? up : corner;
};
