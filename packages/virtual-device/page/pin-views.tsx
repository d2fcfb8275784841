import { hexOf, type PixelsState } from "../src/services/pins.js";
import { historyOf, now, type Point, SPAN } from "./history.js";

const WIDTH = 240;
const HEIGHT = 32;

interface CurveProps {
	/** Key of its history. */
	readonly of: string;
	readonly name: string;
	readonly minimum: number;
	readonly maximum: number;
	/** Makes the shown value of one in the history. Default: it is that. */
	readonly convert?: (value: number) => number;
}

/** The last minute of a value. */
export function Curve({ of, name, minimum, maximum, convert = (value) => value }: CurveProps) {
	const end = now.value;
	const height = (value: number): number =>
		HEIGHT - 1 - ((Math.min(maximum, Math.max(minimum, value)) - minimum) / (maximum - minimum)) * (HEIGHT - 2);
	const place = (time: number): number => Math.max(0, WIDTH - ((end - time) / SPAN) * WIDTH);
	const points = historyOf(of);
	const path = points.map(([time, value]: Point, index) => {
		const [x, y] = [place(time).toFixed(1), height(convert(value)).toFixed(1)];
		return index === 0 ? `M${x} ${y}` : `H${x}V${y}`;
	});
	return (
		<svg
			class="curve"
			viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
			preserveAspectRatio="none"
			role="img"
			aria-label={`${name}, the last minute`}
		>
			<path d={`${path.join("")}H${WIDTH}`} />
		</svg>
	);
}

interface LampProps {
	readonly color?: string;
	/** From 0, off, to 1. */
	readonly light: number;
}

/** A lamp. */
export function Lamp({ color = "#ffb300", light }: LampProps) {
	return (
		<svg class="light" viewBox="0 0 20 20" aria-hidden="true">
			<circle cx="10" cy="10" r="8" class="socket" />
			{light > 0 && <circle cx="10" cy="10" r="8" fill={color} fill-opacity={0.25 + 0.75 * light} />}
		</svg>
	);
}

/** The LEDs of a strip; of a long one, the first ones. */
export function Strip({ colors, length, brightness }: PixelsState) {
	return (
		<span class="strip">
			{colors.map((color, at) => (
				<Lamp key={at} color={hexOf(color)} light={color === 0 ? 0 : brightness / 100} />
			))}
			{length > colors.length && ` + ${length - colors.length}`}
		</span>
	);
}

/** A servo's arm. @param degrees undefined before it has moved */
export function Arm({ degrees }: { readonly degrees: number | undefined }) {
	return (
		<svg class="light" viewBox="0 0 20 20" aria-hidden="true">
			<circle cx="10" cy="10" r="8" class="socket" />
			{degrees !== undefined && <path class="arm" d="M10 10V3" transform={`rotate(${degrees - 90} 10 10)`} />}
		</svg>
	);
}
