import { deepFreeze } from "../core/text/deep-freeze.js";
import type { Brush, Rectangle } from "./brush.js";
import type { Extra, Eye, Look } from "./emotions.js";
import type { Colors } from "./face-colors.js";

/** Center and scale of a face, in pixels. */
export interface FacePlace {
	readonly x: number;
	readonly y: number;
	/** Pixels of a unit. A face is {@link FACE_WIDTH} units wide and {@link FACE_HEIGHT} high. */
	readonly unit: number;
}

/** The moving members of a face. */
export interface Pose {
	/** Offset of the eyes, in pixels. */
	gazeX: number;
	gazeY: number;
	/** Downward offset of eyes and mouth from breathing, in pixels. */
	bob: number;
	/** Percent that the eyes are open. */
	open: number;
	/** Percent that the mouth is open, because it speaks. */
	talk: number;
	/** Step of an extra that drips or floats, from 0 to 2. */
	step: number;
}

/** A face at rest, which looks straight ahead. */
export const REST: Readonly<Pose> = Object.freeze({ gazeX: 0, gazeY: 0, bob: 0, open: 100, talk: 0, step: 1 });

/** Units. */
export const FACE_WIDTH = 172;
export const FACE_HEIGHT = 136;

/** Bounds of the moving eyes and mouth, without extras, in units from the face's middle. */
export const LEFT_EYE_AREA = Object.freeze({ x: -80, y: -56, width: 68, height: 84 });
export const RIGHT_EYE_AREA = Object.freeze({ x: 12, y: -56, width: 68, height: 84 });
export const MOUTH_AREA = Object.freeze({ x: -36, y: 26, width: 72, height: 40 });

/** Bounds of an extra that drips or floats. */
export const extraArea = (extra: Extra): Rectangle => EXTRA_AREAS[extra] ?? WHOLE;

const WHOLE = Object.freeze({ x: -86, y: -68, width: 172, height: 136 });

const EXTRA_AREAS: Readonly<Partial<Record<Extra, Rectangle>>> = deepFreeze({
	tear: { x: -62, y: 6, width: 12, height: 34 },
	sweat: { x: 66, y: -52, width: 16, height: 32 },
	drool: { x: 22, y: 36, width: 10, height: 22 },
	heart: { x: 24, y: 10, width: 30, height: 32 },
	joy: { x: -78, y: -14, width: 156, height: 28 },
	stream: { x: -52, y: 2, width: 104, height: 64 },
	zzz: { x: 42, y: -72, width: 50, height: 42 },
});

/** Units of drops: how far right and below the face's middle they are, how far they fall in a step, and their radius. */
const DROPS: Readonly<Partial<Record<Extra, readonly (readonly [number, number, number, number])[]>>> = deepFreeze({
	tear: [[-56, 20, 7, 5]],
	joy: [
		[-70, 2, 2, 6],
		[70, 2, 2, 6],
	],
	sweat: [[74, -36, 4, 6]],
	drool: [[27, 46, 3, 4]],
});

/** Bounds of the parts that never move by themselves. */
const CHEEKS_AREA = Object.freeze({ x: -86, y: 12, width: 172, height: 26 });
const BROWS_AREA = Object.freeze({ x: -70, y: -70, width: 140, height: 40 });

const EYE_X = 43;
const EYE_Y = -13;
const EYE_RADIUS_X = 19;
const EYE_RADIUS_Y = 25;
const MOUTH_Y = 35;
const BROW_Y = -49;
const STROKE = 6;

/** Percent that an eye must be open to show its glint. */
const GLINT_FROM = 40;

/** Minimum percent of an eye that a low lid covers. */
const LOW_LID = 30;

/** Arguments of all functions that draw a part of the face. */
export interface Drawing {
	readonly brush: Brush;
	readonly colors: Colors;
	readonly look: Look;
	readonly pose: Readonly<Pose>;
	readonly place: FacePlace;
}

/** Draws a face, without its background. */
export const drawFeatures = (drawing: Drawing): void => {
	const { brush, colors, look, place } = drawing;
	const { x, y, unit } = place;
	if (isSeen(drawing, LEFT_EYE_AREA)) {
		drawEye(drawing, -1, look.left);
	}
	if (isSeen(drawing, RIGHT_EYE_AREA)) {
		drawEye(drawing, 1, look.right);
	}
	if (look.blush > 0 && isSeen(drawing, CHEEKS_AREA)) {
		brush.color = colors.blush;
		const radius = (9 + 4 * look.blush) * unit;
		brush.oval(x - 65 * unit, y + 25 * unit, radius, radius * 0.6);
		brush.oval(x + 65 * unit, y + 25 * unit, radius, radius * 0.6);
	}
	if (isSeen(drawing, MOUTH_AREA)) {
		drawMouth(drawing);
	}
	if (isSeen(drawing, BROWS_AREA)) {
		brush.color = colors.ink;
		drawBrow(drawing, -1, look.leftBrow, look.leftSlant);
		drawBrow(drawing, 1, look.rightBrow, look.rightSlant);
	}
	if (look.extra !== "") {
		drawExtra(drawing);
	}
};

const isSeen = ({ brush, place }: Drawing, area: Rectangle): boolean => {
	const { x, y, unit } = place;
	return brush.reaches(x + area.x * unit, y + area.y * unit, area.width * unit, area.height * unit);
};

/** @param side -1: the left one for the viewer; 1: the right one */
const drawEye = (drawing: Drawing, side: number, eye: Eye): void => {
	const { brush, colors, look, pose, place } = drawing;
	const { unit } = place;
	const x = place.x + side * EYE_X * unit + Math.round(look.gazeX * unit) + pose.gazeX;
	const y = place.y + EYE_Y * unit + Math.round(look.gazeY * unit) + pose.gazeY + pose.bob;
	const half = EYE_RADIUS_X * unit;
	brush.color = colors.ink;
	switch (eye) {
		case "arch":
			brush.arc(x, y + 6 * unit, half * 0.9, -half * 0.8, STROKE * unit);
			break;
		case "bowl":
			brush.arc(x, y + 2 * unit, half * 0.9, half * 0.5, STROKE * unit);
			break;
		case "chevron":
			brush.line(x + half * 0.7, y - 11 * unit, x - half * 0.6, y, STROKE * unit);
			brush.line(x + half * 0.7, y + 11 * unit, x - half * 0.6, y, STROKE * unit);
			break;
		case "heart":
			brush.color = colors.heart;
			brush.heart(x, y, ((EYE_RADIUS_Y * unit) / 100) * pose.open);
			break;
		default:
			drawOpenEye(drawing, side, x, y, eye === "dot");
	}
};

const drawOpenEye = (
	{ brush, colors, look, pose, place }: Drawing,
	side: number,
	x: number,
	y: number,
	isDot: boolean,
): void => {
	const unit = (place.unit * look.size) / 100;
	const width = EYE_RADIUS_X * unit;
	const height = Math.max(STROKE / 2, (EYE_RADIUS_Y / 100) * pose.open) * unit;
	brush.oval(x, y, width, height);
	if (pose.open >= GLINT_FROM && isDot) {
		brush.color = colors.glint;
		brush.oval(x, y, width - 5 * unit, height - 5 * unit);
		brush.color = colors.ink;
		brush.oval(x, y, 4 * unit, (5 * unit * pose.open) / 100);
	} else if (pose.open >= GLINT_FROM) {
		brush.color = colors.glint;
		// The glint is below a low lid.
		const high = look.lid < LOW_LID ? 0.4 : 0;
		brush.oval(x + width * 0.3, y - height * high, width * 0.32, height * 0.27);
		if (look.cheek === 0) {
			brush.oval(x - width * 0.35, y + height * 0.4, width * 0.16, height * 0.13);
		}
	}
	brush.color = colors.background;
	if (look.lid > 0) {
		const left = x - width - 1;
		const right = x + width + 1;
		const top = y - height - 1;
		const level = y - height + (2 * height * look.lid) / 100;
		const lower = (side * height * look.slant) / 100;
		brush.polygon([left, top - height, right, top - height, right, level - lower, left, level + lower]);
	}
	if (look.cheek > 0) {
		brush.oval(x, y + height * (1 - look.cheek / 50) + height, width * 2, height);
	}
};

const drawBrow = ({ brush, place }: Drawing, side: number, raised: number, slant: number): void => {
	if (raised === 0 && slant === 0) {
		return;
	}
	const { x, y, unit } = place;
	const middle = y + (BROW_Y - raised) * unit;
	const lower = (slant / 2) * unit;
	brush.line(x + side * 30 * unit, middle + lower, x + side * 60 * unit, middle - lower, STROKE * unit);
};

const drawMouth = (drawing: Drawing): void => {
	const { brush, colors, look, pose, place } = drawing;
	const { unit } = place;
	const x = place.x + look.mouthX * unit;
	const y = place.y + MOUTH_Y * unit + pose.bob;
	const half = look.width * unit;
	const depth = look.depth * unit;
	const talk = pose.talk / 100;
	brush.color = colors.ink;
	switch (look.mouth) {
		case "oval":
			brush.color = colors.mouth;
			brush.oval(x, y + 8 * unit, half, depth * (talk > 0 ? 0.5 + talk / 2 : 1));
			break;
		case "open":
			drawOpenMouth(drawing, x, y - 3 * unit, half, depth * (talk > 0 ? 0.4 + talk * 0.6 : 1));
			break;
		default:
			if (talk > 0) {
				drawOpenMouth(drawing, x, y, Math.max(half * 0.8, 12 * unit), (4 + 20 * talk) * unit);
			} else {
				drawLips(drawing, x, y);
			}
	}
};

const drawOpenMouth = ({ brush, colors, place }: Drawing, x: number, y: number, half: number, depth: number): void => {
	const { unit } = place;
	brush.color = colors.mouth;
	brush.arc(x, y, half - 2 * unit, 0, 4 * unit);
	brush.oval(x, y, half, depth, y);
	if (depth > 9 * unit) {
		brush.color = colors.tongue;
		brush.oval(x, y + depth * 0.66, half * 0.52, depth * 0.28);
	}
};

const drawLips = ({ brush, colors, look, place }: Drawing, x: number, y: number): void => {
	const { mouth, width, depth } = look;
	const { unit } = place;
	const stroke = STROKE * unit;
	const half = width * unit;
	switch (mouth) {
		case "wave":
			for (const at of [-1, 0, 1]) {
				brush.arc(x + at * 12 * unit, y + 6 * unit, 6 * unit, (at === 0 ? 4 : -4) * unit, stroke * 0.8);
			}
			break;
		case "smirk":
			brush.arc(x, y, half, depth * unit, stroke);
			brush.line(x + half, y, x + half + 5 * unit, y - 6 * unit, stroke);
			break;
		case "tongue":
			brush.color = colors.tongue;
			brush.oval(x + 8 * unit, y + (depth + 4) * unit, 8 * unit, 10 * unit, y + (depth - 3) * unit);
			brush.color = colors.ink;
			brush.arc(x, y, half, depth * unit, stroke);
			break;
		case "kiss":
			brush.color = colors.heart;
			brush.oval(x, y + 5 * unit, 7 * unit, 6 * unit);
			break;
		case "line":
			brush.line(x - half, y + 4 * unit - depth * unit, x + half, y + 4 * unit + depth * unit, stroke);
			break;
		default:
			brush.arc(x, y + (depth < 0 ? -depth * unit : 0), half, depth * unit, stroke);
	}
};

const drawExtra = ({ brush, colors, look, pose, place }: Drawing): void => {
	const { x, y, unit } = place;
	brush.color = colors.tear;
	switch (look.extra) {
		case "stream":
			for (const side of [-1, 1]) {
				const left = Math.round(x + (side * EYE_X - 6) * unit);
				const top = Math.round(y + 3 * unit);
				const length = Math.round((44 + 5 * pose.step) * unit);
				brush.rounded(left, top, Math.round(12 * unit), length, Math.floor(5 * unit));
			}
			break;
		case "heart":
			brush.color = colors.heart;
			brush.heart(x + (34 + 3 * pose.step) * unit, y + (32 - 5 * pose.step) * unit, 8 * unit);
			break;
		case "glasses":
			drawGlasses(brush, colors, place);
			break;
		case "zzz":
			brush.color = colors.ink;
			drawSleep(brush, place, pose.step);
			break;
		case "question":
			brush.color = colors.accent;
			drawQuestion(brush, x + 75 * unit, y - 50 * unit, unit);
			break;
		default:
			for (const [right, below, fall, radius] of DROPS[look.extra] ?? []) {
				brush.drop(x + right * unit, y + (below + fall * pose.step) * unit, radius * unit);
			}
	}
};

const drawGlasses = (brush: Brush, colors: Colors, { x, y, unit }: FacePlace): void => {
	const top = Math.round(y - 31 * unit);
	const [width, height] = [Math.round(52 * unit), Math.round(40 * unit)];
	const left = [Math.round(x - 69 * unit), Math.round(x + 17 * unit)];
	brush.color = colors.ink;
	brush.line(x - 76 * unit, y - 25 * unit, x + 76 * unit, y - 25 * unit, 6 * unit);
	for (const at of left) {
		brush.rounded(at, top, width, height, Math.floor(14 * unit));
	}
	brush.color = colors.quiet;
	for (const at of left) {
		brush.line(at + 14 * unit, y - 5 * unit, at + 26 * unit, y - 21 * unit, 3 * unit);
		brush.line(at + 24 * unit, y - 5 * unit, at + 31 * unit, y - 14 * unit, 3 * unit);
	}
};

/** Up to three letters Z, each larger than the one before. */
const drawSleep = (brush: Brush, { x, y, unit }: FacePlace, step: number): void => {
	for (let at = 0; at <= step; at += 1) {
		const half = (4 + 1.5 * at) * unit;
		const [left, right] = [x + (50 + 14 * at) * unit - half, x + (50 + 14 * at) * unit + half];
		const middle = y - (38 + 11 * at) * unit;
		const stroke = (2.4 + 0.4 * at) * unit;
		brush.line(left, middle - half, right, middle - half, stroke);
		brush.line(right, middle - half, left, middle + half, stroke);
		brush.line(left, middle + half, right, middle + half, stroke);
	}
};

const drawQuestion = (brush: Brush, x: number, y: number, unit: number): void => {
	const stroke = 5 * unit;
	brush.arc(x, y, 7 * unit, -7 * unit, stroke);
	brush.line(x + 7 * unit, y, x, y + 8 * unit, stroke);
	brush.line(x, y + 8 * unit, x, y + 11 * unit, stroke);
	brush.oval(x, y + 20 * unit, 3.2 * unit, 3.2 * unit);
};
