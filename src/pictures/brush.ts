import type { Canvas } from "./canvas.js";

/** Steps in which an edge that is nearly level fades out, at most: each is a rectangle. */
const MAX_STEPS = 4;

/** Pixels: a line that hangs through less is level, and what is narrower has one shade. */
const LEVEL = 0.75;
const THIN = 2;

/** An arc hangs through so much of its half width at most. */
const DEEPEST = 0.98;

/**
 * Draws smooth shapes row by row, as rectangles: the pixels that an edge cuts are blended. Poco has no such shapes but
 * outlines, for which a board of 4 MB has no room. Lengths are pixels and may be fractions; a shape outside of the clip costs little.
 */
export class Brush {
	/** What `makeColor` made. */
	color = 0;
	readonly #canvas: Canvas;
	#left = 0;
	#top = 0;
	#right = 0;
	#bottom = 0;
	/** The corners of a line: x, y, x, y, … */
	readonly #corners = new Float32Array(8);

	constructor(canvas: Canvas) {
		this.#canvas = canvas;
	}

	/** Shapes are drawn in these whole rows, and only if they touch these columns. */
	clip(x: number, y: number, width: number, height: number): void {
		this.#left = x;
		this.#top = y;
		this.#right = x + width;
		this.#bottom = y + height;
	}

	/** Whether something in this place is to be drawn. */
	reaches(x: number, y: number, width: number, height: number): boolean {
		return x < this.#right && x + width > this.#left && y < this.#bottom && y + height > this.#top;
	}

	/** An ellipse, or the part of it between two rows. */
	oval(x: number, y: number, radiusX: number, radiusY: number, from = y - radiusY, to = y + radiusY): void {
		const top = Math.max(from, y - radiusY);
		const bottom = Math.min(to, y + radiusY);
		if (!this.reaches(x - radiusX, top, 2 * radiusX, bottom - top)) {
			return;
		}
		const end = Math.min(Math.ceil(bottom), this.#bottom);
		let row = Math.max(Math.floor(top), this.#top);
		let before = halfOf(radiusX, (Math.max(row, top) - y) / radiusY);
		for (; row < end; row += 1) {
			const last = Math.min(row + 1, bottom);
			const after = halfOf(radiusX, (last - y) / radiusY);
			this.#span(row, last - Math.max(row, top), x - before, x - after, x + before, x + after);
			before = after;
		}
	}

	/** A rectangle with round corners. */
	rounded(x: number, y: number, width: number, height: number, radius: number): void {
		const inner = height - 2 * radius;
		this.#wide(x + radius, x + width - radius, y + radius, radius, y, y + radius);
		if (inner > 0 && this.reaches(x, y + radius, width, inner)) {
			this.#block(x, y + radius, width, inner);
		}
		this.#wide(x + radius, x + width - radius, y + height - radius, radius, y + height - radius, y + height);
	}

	/**
	 * A part of a circle's line, with round ends.
	 *
	 * @param x, y the middle between its ends
	 * @param half from there to an end
	 * @param depth from there to the middle of the line: above if negative, at most `half`
	 */
	arc(x: number, y: number, half: number, depth: number, thickness: number): void {
		const round = thickness / 2;
		const sag = Math.min(Math.abs(depth), DEEPEST * half);
		if (sag < LEVEL) {
			this.#wide(x - half, x + half, y, round, y - round, y + round);
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
			this.#ring({ x, center, outer: radius + round, inner: radius - round, slope: half / (y - center) }, top, bottom);
		}
		this.oval(x - half, y, round, round);
		this.oval(x + half, y, round, round);
	}

	/** A straight line with round ends. */
	line(x: number, y: number, toX: number, toY: number, thickness: number): void {
		const round = thickness / 2;
		const length = Math.sqrt((toX - x) ** 2 + (toY - y) ** 2);
		if (length > 0) {
			const acrossX = (-(toY - y) * round) / length;
			const acrossY = ((toX - x) * round) / length;
			const corners = this.#corners;
			corners[0] = x + acrossX;
			corners[1] = y + acrossY;
			corners[2] = toX + acrossX;
			corners[3] = toY + acrossY;
			corners[4] = toX - acrossX;
			corners[5] = toY - acrossY;
			corners[6] = x - acrossX;
			corners[7] = y - acrossY;
			this.polygon(corners);
		}
		this.oval(x, y, round, round);
		this.oval(toX, toY, round, round);
	}

	/** @param corners x and y of each; no corner may point inwards */
	polygon(corners: ArrayLike<number>): void {
		let top = Number.POSITIVE_INFINITY;
		let bottom = Number.NEGATIVE_INFINITY;
		for (let at = 1; at < corners.length; at += 2) {
			top = Math.min(top, corners[at] as number);
			bottom = Math.max(bottom, corners[at] as number);
		}
		const end = Math.min(Math.ceil(bottom), this.#bottom);
		let row = Math.max(Math.floor(top), this.#top);
		if (row >= end) {
			return;
		}
		const level = Math.max(row, top);
		let leftBefore = crossing(corners, level, Math.min);
		let rightBefore = crossing(corners, level, Math.max);
		for (; row < end; row += 1) {
			const last = Math.min(row + 1, bottom);
			const left = crossing(corners, last, Math.min);
			const right = crossing(corners, last, Math.max);
			this.#span(row, last - Math.max(row, top), leftBefore, left, rightBefore, right);
			leftBefore = left;
			rightBefore = right;
		}
	}

	/** Its lobes are of circles, and its sides touch these. */
	heart(x: number, y: number, size: number): void {
		const lobe = size * 0.54;
		this.oval(x - size * 0.46, y - size * 0.3, lobe, lobe);
		this.oval(x + size * 0.46, y - size * 0.3, lobe, lobe);
		const [side, shoulder] = [size * 0.85, y + size * 0.08];
		this.polygon([x - side, shoulder, x, y - size * 0.5, x + side, shoulder, x, y + size * 0.95]);
	}

	/** A drop that hangs: its middle, and its radius. */
	drop(x: number, y: number, radius: number): void {
		this.oval(x, y, radius, radius);
		this.polygon([x, y - 2.4 * radius, x + 0.92 * radius, y - 0.4 * radius, x - 0.92 * radius, y - 0.4 * radius]);
	}

	/** An ellipse of one radius whose middle is a line from `left` to `right`, between two rows. */
	#wide(left: number, right: number, y: number, radius: number, top: number, bottom: number): void {
		if (!this.reaches(left - radius, top, right - left + 2 * radius, bottom - top)) {
			return;
		}
		const end = Math.min(Math.ceil(bottom), this.#bottom);
		for (let row = Math.max(Math.floor(top), this.#top); row < end; row += 1) {
			const [first, last] = [Math.max(row, top), Math.min(row + 1, bottom)];
			const before = halfOf(radius, (first - y) / radius);
			const after = halfOf(radius, (last - y) / radius);
			this.#span(row, last - first, left - before, left - after, right + before, right + after);
		}
	}

	#ring({ x, center, outer, inner, slope }: Ring, top: number, bottom: number): void {
		const end = Math.min(Math.ceil(bottom), this.#bottom);
		for (let row = Math.max(Math.floor(top), this.#top); row < end; row += 1) {
			const first = Math.max(row, top);
			const last = Math.min(row + 1, bottom);
			const cover = last - first;
			const outerBefore = Math.min(halfOf(outer, (first - center) / outer), (first - center) * slope);
			const outerAfter = Math.min(halfOf(outer, (last - center) / outer), (last - center) * slope);
			const before = halfOf(inner, (first - center) / inner);
			const after = halfOf(inner, (last - center) / inner);
			if (before === 0 && after === 0) {
				this.#span(row, cover, x - outerBefore, x - outerAfter, x + outerBefore, x + outerAfter);
			} else {
				this.#span(row, cover, x - outerBefore, x - outerAfter, x - before, x - after);
				this.#span(row, cover, x + before, x + after, x + outerBefore, x + outerAfter);
			}
		}
	}

	/**
	 * A row of a shape.
	 *
	 * @param cover the part of the row's height that the shape has
	 * @param leftAbove, leftBelow where its left edge enters and leaves the row
	 */
	#span(row: number, cover: number, leftAbove: number, leftBelow: number, rightAbove: number, rightBelow: number): void {
		const left = Math.min(leftAbove, leftBelow);
		const right = Math.max(rightAbove, rightBelow);
		if (right <= left || cover <= 0) {
			return;
		}
		const blend = 255 * cover;
		const insideLeft = Math.max(leftAbove, leftBelow);
		const insideRight = Math.min(rightAbove, rightBelow);
		const first = Math.ceil(insideLeft);
		const last = Math.floor(insideRight);
		if (first > last && right - left <= THIN) {
			this.#thin(row, blend, left, right, (insideRight - insideLeft + right - left) / 2);
			return;
		}
		if (first > last) {
			// The top or the bottom of something round.
			const middle = Math.round((insideLeft + insideRight) / 2);
			this.#fade(row, blend, left, insideLeft, middle, true);
			this.#fade(row, blend, insideRight, right, middle, false);
			return;
		}
		this.#fade(row, blend, left, insideLeft, first, true);
		this.#blend(blend, first, row, last - first);
		this.#fade(row, blend, insideRight, right, last, false);
	}

	/** A row in which no pixel is covered as a whole: `area` pixels of it, evenly. */
	#thin(row: number, blend: number, left: number, right: number, area: number): void {
		const first = Math.floor(left);
		const width = Math.ceil(right) - first;
		this.#blend((blend * Math.max(0, area)) / width, first, row, width);
	}

	/** The pixels that an edge cuts in a row, from whole pixels on one side to nothing on the other. */
	#fade(row: number, blend: number, from: number, to: number, whole: number, isLeft: boolean): void {
		const first = isLeft ? Math.floor(from) : whole;
		const end = isLeft ? whole : Math.ceil(to);
		const width = end - first;
		if (width === 1) {
			const middle = (from + to) / 2;
			this.#blend(blend * (isLeft ? end - middle : middle - first), first, row, 1);
			return;
		}
		const step = Math.ceil(width / MAX_STEPS);
		for (let x = first; x < end; x += step) {
			const wide = Math.min(step, end - x);
			const part = Math.min(1, Math.max(0, (x + wide / 2 - from) / (to - from)));
			this.#blend(blend * (isLeft ? part : 1 - part), x, row, wide);
		}
	}

	#blend(blend: number, x: number, y: number, width: number): void {
		if (width > 0 && blend >= 250) {
			this.#canvas.fillRectangle(this.color, x, y, width, 1);
		} else if (width > 0 && blend >= 8) {
			this.#canvas.blendRectangle(this.color, Math.round(blend), x, y, width, 1);
		}
	}

	/** Whole rows of one width. */
	#block(x: number, y: number, width: number, height: number): void {
		const top = Math.max(y, this.#top);
		const bottom = Math.min(y + height, this.#bottom);
		this.#canvas.fillRectangle(this.color, x, top, width, bottom - top);
	}
}

interface Ring {
	readonly x: number;
	readonly center: number;
	readonly outer: number;
	readonly inner: number;
	/** Columns a row, of the lines from the centre to the ends. */
	readonly slope: number;
}

/** Half the width of an ellipse, at a height from -1 to 1. */
function halfOf(radius: number, height: number): number {
	const rest = 1 - height * height;
	return rest > 0 ? radius * Math.sqrt(rest) : 0;
}

/** Where the outline crosses a level, on one side. */
function crossing(corners: ArrayLike<number>, level: number, choose: (one: number, other: number) => number): number {
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
}
