import type { Value } from "./status-values.js";

/** Points of one series that are sent: a plot has not more. */
const MAX_POINTS = 1_000;

type Point = readonly [time: number, value: Value];

/** A series with at most 1,000 points: in each of 500 spans of equal length, the least and the greatest value stay. */
export function thinned(points: readonly Point[]): readonly Point[] {
	const [first, last] = [points[0], points.at(-1)];
	if (points.length <= MAX_POINTS || first === undefined || last === undefined) {
		return points;
	}
	const width = (last[0] - first[0] + 1) / (MAX_POINTS / 2);
	const spans = new Map<number, { least: Point; greatest: Point }>();
	for (const point of points) {
		const number = Math.floor((point[0] - first[0]) / width);
		const { least, greatest } = spans.get(number) ?? { least: point, greatest: point };
		spans.set(number, {
			least: point[1] < least[1] ? point : least,
			greatest: point[1] > greatest[1] ? point : greatest,
		});
	}
	return [...spans.values()].flatMap(({ least, greatest }) => {
		const both = least[0] <= greatest[0] ? [least, greatest] : [greatest, least];
		return least === greatest ? [least] : both;
	});
}
