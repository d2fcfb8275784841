/** A part of a screen or a picture: pixels. */
export interface Rectangle {
	readonly x: number;
	readonly y: number;
	readonly width: number;
	readonly height: number;
}

/** A font of the canvas. */
export interface Font {
	/** Pixels from line to line. */
	readonly height: number;
}

/** A canvas: Moddable's Poco. Lengths are whole pixels, colours come from `makeColor`. */
export interface Canvas {
	readonly width: number;
	readonly height: number;
	makeColor(red: number, green: number, blue: number): number;
	/** Begins a drawing of the whole canvas, or of a part of it. */
	begin(x?: number, y?: number, width?: number, height?: number): void;
	end(): void;
	fillRectangle(color: number, x: number, y: number, width: number, height: number): void;
	/** @param blend from 0, which draws nothing, to 255 */
	blendRectangle(color: number, blend: number, x: number, y: number, width: number, height: number): void;
	drawText(text: string, font: Font, color: number, x: number, y: number, width?: number): void;
	getTextWidth(text: string, font: Font): number;
}

const { sqrt } = Math;

/** Maximum number of steps in which a nearly level edge fades out: each is a rectangle. */
const MAX_STEPS = 3;

/** Pixels: a line with less sag is drawn level, and a narrower span has one shade. */
const LEVEL = 0.75;
const THIN = 2;

/** Pixels per row: where edges bend less, three rows are drawn together if the radius exceeds TALL. */
const STEEP = 0.2;
const TALL = 18;

/** Alpha below FAINT is skipped, above SOLID it is opaque. The maximum is 255. */
const FAINT = 8;
const SOLID = 250;

/** Maximum sag of an arc, as a part of its half width. */
const DEEPEST = 0.98;

/**
 * Draws anti-aliased shapes row by row, as rectangles: a pixel that an edge cuts is blended by its covered part
 * (area sampling, between the edge's ends in a row). So do Poco's outlines, but these do not fit a board of 4 MB, and a
 * virtual device has no native code. Lengths are pixels and may be fractions; a shape outside the clip costs little.
 */
export class Brush {
	/** A colour, from `makeColor`. */
	color = 0;
	private readonly canvas: Canvas;
	private left = 0;
	private top = 0;
	private right = 0;
	private bottom = 0;

	constructor(canvas: Canvas) {
		this.canvas = canvas;
	}

	/** Limits drawing to these rows, and to shapes that touch these columns. */
	clip(x: number, y: number, width: number, height: number): void {
		this.left = x;
		this.top = y;
		this.right = x + width;
		this.bottom = y + height;
	}

	/** Whether a rectangle overlaps the clip. */
	reaches(x: number, y: number, width: number, height: number): boolean {
		return x < this.right && x + width > this.left && y < this.bottom && y + height > this.top;
	}

	/** An ellipse, or the part of it between two rows. */
	oval(x: number, y: number, radiusX: number, radiusY: number, from = y - radiusY, to = y + radiusY): void {
		this.wide(x, x, y, radiusX, radiusY, from, to);
	}

	/** A rectangle with round corners. */
	rounded(x: number, y: number, width: number, height: number, radius: number): void {
		const first = y + radius;
		const last = y + height - radius;
		this.wide(x + radius, x + width - radius, first, radius, radius, y, first);
		if (last > first && this.reaches(x, first, width, last - first)) {
			const top = greater(first, this.top);
			this.canvas.fillRectangle(this.color, x, top, width, lesser(last, this.bottom) - top);
		}
		this.wide(x + radius, x + width - radius, last, radius, radius, last, y + height);
	}

	/**
	 * Draws an arc of a circle, with round ends.
	 *
	 * @param x, y the middle between its ends
	 * @param half distance from there to an end
	 * @param depth distance from there to the middle of the arc: above if negative, at most `half`
	 */
	arc(x: number, y: number, half: number, depth: number, thickness: number): void {
		const round = thickness / 2;
		const sag = Math.min(Math.abs(depth), DEEPEST * half);
		if (sag < LEVEL) {
			this.wide(x - half, x + half, y, round, round, y - round, y + round);
			return;
		}
		const radius = (half * half + sag * sag) / (2 * sag);
		const sign = depth < 0 ? -1 : 1;
		const center = y + sign * (sag - radius);
		const near = center + ((y - center) * (radius - round)) / radius;
		const far = y + sign * (sag + round);
		const top = Math.min(near, far);
		const bottom = Math.max(near, far);
		if (this.reaches(x - half - round, top, 2 * (half + round), bottom - top)) {
			this.ring(x, center, radius + round, radius - round, half / (y - center), top, bottom);
		}
		this.oval(x - half, y, round, round);
		this.oval(x + half, y, round, round);
	}

	/** A straight line with round ends. */
	line(x: number, y: number, toX: number, toY: number, thickness: number): void {
		const round = thickness / 2;
		const left = lesser(x, toX) - round;
		const top = lesser(y, toY) - round;
		if (!this.reaches(left, top, greater(x, toX) + round - left, greater(y, toY) + round - top)) {
			return;
		}
		const length = sqrt((toX - x) ** 2 + (toY - y) ** 2);
		if (length > 0) {
			const acrossX = (-(toY - y) * round) / length;
			const acrossY = ((toX - x) * round) / length;
			const start = [x + acrossX, y + acrossY, toX + acrossX, toY + acrossY];
			this.polygon([...start, toX - acrossX, toY - acrossY, x - acrossX, y - acrossY]);
		}
		this.oval(x, y, round, round);
		this.oval(toX, toY, round, round);
	}

	/** @param corners x and y of each; no corner may point inwards */
	polygon(corners: ArrayLike<number>): void {
		let top = corners[1] as number;
		let bottom = top;
		for (let at = 3; at < corners.length; at += 2) {
			top = lesser(top, corners[at] as number);
			bottom = greater(bottom, corners[at] as number);
		}
		const end = lesser(ceil(bottom), this.bottom);
		let row = greater(top | 0, this.top);
		let level = greater(row, top);
		if (row >= end) {
			return;
		}
		let leftBefore = crossing(corners, level, lesser);
		let rightBefore = crossing(corners, level, greater);
		for (; row < end; row += 1) {
			const next = lesser(row + 1, bottom);
			const left = crossing(corners, next, lesser);
			const right = crossing(corners, next, greater);
			this.span(row, 1, 255 * (next - level), leftBefore, left, rightBefore, right);
			leftBefore = left;
			rightBefore = right;
			level = next;
		}
	}

	/** Draws a heart: two circles as lobes, and sides that are tangents to them. */
	heart(x: number, y: number, size: number): void {
		const lobe = size * 0.54;
		this.oval(x - size * 0.46, y - size * 0.3, lobe, lobe);
		this.oval(x + size * 0.46, y - size * 0.3, lobe, lobe);
		const side = size * 0.85;
		const shoulder = y + size * 0.08;
		this.polygon([x - side, shoulder, x, y - size * 0.5, x + side, shoulder, x, y + size * 0.95]);
	}

	/** Draws a hanging drop. @param radius of its round part, around x and y */
	drop(x: number, y: number, radius: number): void {
		this.oval(x, y, radius, radius);
		this.polygon([x, y - 2.4 * radius, x + 0.92 * radius, y - 0.4 * radius, x - 0.92 * radius, y - 0.4 * radius]);
	}

	/** Draws an ellipse between two rows. Its halves are pulled apart, to `left` and `right`. */
	private wide(
		left: number,
		right: number,
		y: number,
		radiusX: number,
		radiusY: number,
		from: number,
		to: number,
	): void {
		const top = from > y - radiusY ? from : y - radiusY;
		const bottom = to < y + radiusY ? to : y + radiusY;
		if (!this.reaches(left - radiusX, top, right - left + 2 * radiusX, bottom - top)) {
			return;
		}
		const end = lesser(ceil(bottom), this.bottom);
		const lastWhole = lesser(bottom, end);
		let row = greater(top | 0, this.top);
		let level = row > top ? row : top;
		let rest = 1 - ((level - y) / radiusY) ** 2;
		let before = rest > 0 ? radiusX * sqrt(rest) : 0;
		let rows = 1;
		while (row < end) {
			if (row + rows > lastWhole) {
				rows = 1;
			}
			const next = row + rows < bottom ? row + rows : bottom;
			const height = (next - y) / radiusY;
			rest = 1 - height * height;
			const after = rest > 0 ? radiusX * sqrt(rest) : 0;
			const cover = rows === 1 ? next - level : 1;
			this.span(row, rows, 255 * cover, left - before, left - after, right + before, right + after);
			const bend = (before < after ? after - before : before - after) / rows;
			row += rows;
			rows = bend < STEEP && radiusY > TALL ? 3 : 1;
			before = after;
			level = next;
		}
	}

	/** Draws the part of a ring between two rows. @param slope columns per row, of the lines from centre to ends */
	private ring(
		x: number,
		center: number,
		outer: number,
		inner: number,
		slope: number,
		top: number,
		bottom: number,
	): void {
		const end = lesser(ceil(bottom), this.bottom);
		let row = greater(top | 0, this.top);
		let level = row > top ? row : top;
		let outerBefore = lesser(halfOf(outer, level - center), (level - center) * slope);
		let before = halfOf(inner, level - center);
		for (; row < end; row += 1) {
			const next = row + 1 < bottom ? row + 1 : bottom;
			const cover = 255 * (next - level);
			const outerAfter = lesser(halfOf(outer, next - center), (next - center) * slope);
			const after = halfOf(inner, next - center);
			// In the row of the inner circle's top or bottom, half a pixel decides: a fade would leave a notch.
			const middle = (before === 0 || after === 0) && before !== after ? halfOf(inner, (level + next) / 2 - center) : 1;
			if (middle === 0 || (before === 0 && after === 0)) {
				this.span(row, 1, cover, x - outerBefore, x - outerAfter, x + outerBefore, x + outerAfter);
			} else {
				const above = before === 0 ? after : before;
				const below = after === 0 ? before : after;
				this.span(row, 1, cover, x - outerBefore, x - outerAfter, x - above, x - below);
				this.span(row, 1, cover, x + above, x + below, x + outerBefore, x + outerAfter);
			}
			outerBefore = outerAfter;
			before = after;
			level = next;
		}
	}

	/**
	 * Draws rows of a shape that have the same edges.
	 *
	 * @param blend 255, or less if the shape has only a part of the row's height
	 * @param leftAbove, leftBelow where its left edge enters and leaves these rows
	 */
	private span(
		row: number,
		rows: number,
		blend: number,
		leftAbove: number,
		leftBelow: number,
		rightAbove: number,
		rightBelow: number,
	): void {
		const isWider = leftAbove > leftBelow;
		const left = isWider ? leftBelow : leftAbove;
		const insideLeft = isWider ? leftAbove : leftBelow;
		const isLonger = rightAbove < rightBelow;
		const insideRight = isLonger ? rightAbove : rightBelow;
		const right = isLonger ? rightBelow : rightAbove;
		if (right <= left || blend < FAINT) {
			return;
		}
		let first = ceil(insideLeft);
		let last = insideRight | 0;
		if (first > last) {
			if (right - left <= THIN) {
				// No pixel is covered as a whole.
				const x = left | 0;
				const width = ceil(right) - x;
				this.cover(x, row, width, rows, (blend * (insideRight - insideLeft + right - left)) / (2 * width));
				return;
			}
			// The top or the bottom of something round.
			first = ((insideLeft + insideRight) / 2 + 0.5) | 0;
			last = first;
		}
		if (first < last) {
			this.cover(first, row, last - first, rows, blend);
		}
		if (left < first - 1) {
			this.fade(row, rows, blend, left, insideLeft, first, true);
		} else if (left < first) {
			this.cover(first - 1, row, 1, rows, blend * (first - (left + insideLeft) / 2));
		}
		if (right > last + 1) {
			this.fade(row, rows, blend, insideRight, right, last, false);
		} else if (right > last) {
			this.cover(last, row, 1, rows, blend * ((insideRight + right) / 2 - last));
		}
	}

	/** Draws the pixels that an edge cuts, from full cover on one side to none on the other. */
	private fade(
		row: number,
		rows: number,
		blend: number,
		from: number,
		to: number,
		whole: number,
		isLeft: boolean,
	): void {
		const first = isLeft ? from | 0 : whole;
		const end = isLeft ? whole : ceil(to);
		const step = ceil((end - first) / MAX_STEPS);
		for (let x = first; x < end; x += step) {
			const wide = x + step < end ? step : end - x;
			const at = (x + wide / 2 - from) / (to - from);
			const part = at < 0 ? 0 : at > 1 ? 1 : at;
			this.cover(x, row, wide, rows, blend * (isLeft ? part : 1 - part));
		}
	}

	private cover(x: number, row: number, width: number, rows: number, blend: number): void {
		if (blend >= SOLID) {
			this.canvas.fillRectangle(this.color, x, row, width, rows);
		} else if (blend >= FAINT) {
			this.canvas.blendRectangle(this.color, blend | 0, x, row, width, rows);
		}
	}
}

/** Half the width of a circle, at a distance from its middle. */
const halfOf = (radius: number, distance: number): number => {
	const rest = radius * radius - distance * distance;
	return rest > 0 ? sqrt(rest) : 0;
};

/** Instead of `Math.min`: XS searches its list of global names for `Math` each time. */
const lesser = (one: number, other: number): number => (one < other ? one : other);

const greater = (one: number, other: number): number => (one > other ? one : other);

const ceil = (value: number): number => {
	const whole = value | 0;
	return whole < value ? whole + 1 : whole;
};

/** Finds the leftmost or rightmost x at which the outline crosses a level. */
const crossing = (
	corners: ArrayLike<number>,
	level: number,
	choose: (one: number, other: number) => number,
): number => {
	let found = Number.NaN;
	let x = corners[corners.length - 2] as number;
	let y = corners[corners.length - 1] as number;
	for (let at = 0; at < corners.length; at += 2) {
		const toX = corners[at] as number;
		const toY = corners[at + 1] as number;
		if ((level >= y && level <= toY) || (level <= y && level >= toY)) {
			const here = y === toY ? choose(x, toX) : x + ((toX - x) * (level - y)) / (toY - y);
			found = Number.isNaN(found) ? here : choose(found, here);
		}
		x = toX;
		y = toY;
	}
	return found;
};
