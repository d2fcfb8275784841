/**
 * The discrete cosine transform of a block of 8 x 8 numbers, in place, by the method of Arai, Agui and Nakajima: the results
 * are too large by constant factors, which the table of divisors takes into account.
 */
export function transform(block: Float32Array): void {
	for (let row = 0; row < 64; row += 8) {
		transformLine(block, row, 1);
	}
	for (let column = 0; column < 8; column += 1) {
		transformLine(block, column, 8);
	}
}

/** Eight numbers, `step` apart. Written out, because it runs sixteen times a block. */
function transformLine(block: Float32Array, at: number, step: number): void {
	const end = at + 7 * step;
	const first = block[at] as number;
	const second = block[at + step] as number;
	const third = block[at + 2 * step] as number;
	const fourth = block[at + 3 * step] as number;
	const fifth = block[end - 3 * step] as number;
	const sixth = block[end - 2 * step] as number;
	const seventh = block[end - step] as number;
	const eighth = block[end] as number;

	const difference0 = first - eighth;
	const difference1 = second - seventh;
	const difference2 = third - sixth;
	const difference3 = fourth - fifth;
	const outer = first + eighth + fourth + fifth;
	const inner = second + seventh + third + sixth;
	const outerDifference = first + eighth - fourth - fifth;
	const innerDifference = second + seventh - third - sixth;
	const rotated = (innerDifference + outerDifference) * Math.SQRT1_2;
	block[at] = outer + inner;
	block[at + 4 * step] = outer - inner;
	block[at + 2 * step] = outerDifference + rotated;
	block[at + 6 * step] = outerDifference - rotated;

	const low = difference3 + difference2;
	const middle = (difference2 + difference1) * Math.SQRT1_2;
	const high = difference1 + difference0;
	const turn = (low - high) * 0.382683433;
	const even = 0.5411961 * low + turn;
	const odd = 1.306562965 * high + turn;
	const plus = difference0 + middle;
	const minus = difference0 - middle;
	block[at + 5 * step] = minus + even;
	block[at + 3 * step] = minus - even;
	block[at + step] = plus + odd;
	block[end] = plus - odd;
}
