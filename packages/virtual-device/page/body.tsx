import { useEffect, useRef } from "preact/hooks";
import { PIXELS_HEAD_BYTES } from "../src/page-messages.js";
import { hexOf, type PixelsState } from "../src/services/pins.js";
import { act, device, followPixels, historyOf, now, type Point, picture, SPAN, showPicture } from "./link.js";

const WIDTH = 240;
const HEIGHT = 32;

interface CurveProps {
	/** Key of its history. */
	readonly of: string;
	readonly name: string;
	readonly minimum: number;
	readonly maximum: number;
	/** Converts a value of the history to the shown one. Default: unchanged. */
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

export function Lamp({ color = "#ffb300", light }: LampProps) {
	return (
		<svg class="light" viewBox="0 0 20 20" aria-hidden="true">
			<circle cx="10" cy="10" r="8" class="socket" />
			{light > 0 && <circle cx="10" cy="10" r="8" fill={color} fill-opacity={0.25 + 0.75 * light} />}
		</svg>
	);
}

/** The LEDs of a strip; only the first ones of a long strip. */
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

/** Milliseconds for which the firmware shows a picture: src/screen/picture-preview.ts. */
const PICTURE_TIME = 10_000;

/** The button name of a touch screen. */
const TOUCH = "screen";

/** The device as a person sees it: screen, lights, buttons. */
export function Body() {
	const { board, isRunning, lights, servos = {} } = device.value ?? {};
	if (board === undefined || (board.screen === undefined && board.lights.length + board.buttons.length === 0)) {
		return null;
	}
	const { yaw = 0, pitch = 0 } = servos;
	// The device's own left is on the right of the page.
	const turned = `rotateY(${-yaw}deg) rotateX(${pitch}deg)`;
	const screen = board.screen && <Screen {...board.screen} isTouched={board.buttons.includes(TOUCH)} />;
	const keys = board.buttons.filter((name) => name !== TOUCH || board.screen === undefined);
	return (
		<section class={isRunning ? "body" : "body off"} aria-label="Device">
			{board.head === undefined ? (
				screen
			) : (
				<div class="neck">
					<div class="head" style={{ transform: turned }}>
						{screen}
					</div>
					<p class="text-light small">
						Head: yaw {yaw}°, pitch {pitch}°
					</p>
				</div>
			)}
			{board.lights.length > 0 && (
				<ul class="hstack lights">
					{board.lights.map((name) => (
						<Light key={name} name={name} {...lights?.[name]} />
					))}
				</ul>
			)}
			{keys.length > 0 && (
				<div class="hstack">
					{keys.map((name) => (
						<Key key={name} name={name} />
					))}
				</div>
			)}
			{board.buttons.length > 0 && (
				<p class="text-light small">
					Hold a button{board.buttons.includes(TOUCH) && board.screen ? " or the screen" : ""} for 2 s: a long press.
				</p>
			)}
		</section>
	);
}

/** Makes handlers that hold a button while the pointer or a key is down. */
export function holdBy(hold: (isDown: boolean) => void) {
	const set = (isDown: boolean) => () => hold(isDown);
	const isKey = ({ key, repeat }: KeyboardEvent): boolean => (key === " " || key === "Enter") && !repeat;
	return {
		onPointerDown: (event: PointerEvent) => {
			(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
			set(true)();
		},
		onPointerUp: set(false),
		onPointerCancel: set(false),
		onKeyDown: (event: KeyboardEvent) => isKey(event) && set(true)(),
		onKeyUp: (event: KeyboardEvent) => isKey(event) && set(false)(),
	};
}

function Key({ name }: { readonly name: string }) {
	return (
		<button type="button" class="outline key" {...holdBy(holdButton(name))}>
			{name}
		</button>
	);
}

const holdButton = (button: string) => (down: boolean) => act("hold", { button, down });

interface LightProps {
	readonly name: string;
	readonly on?: boolean;
	readonly brightness?: number;
	readonly color?: number;
}

function Light({ name, on = false, brightness = 0, color = 0 }: LightProps) {
	const shown = hexOf(color);
	return (
		<li>
			<Lamp color={shown} light={on ? brightness / 100 : 0} />
			{name}: {on ? `${brightness} % of ${shown}` : "off"}
		</li>
	);
}

interface ScreenProps {
	readonly width: number;
	readonly height: number;
	readonly isTouched: boolean;
}

function Screen({ width, height, isTouched }: ScreenProps) {
	const canvas = useRef<HTMLCanvasElement>(null);
	useEffect(() => {
		const context = canvas.current?.getContext("2d");
		followPixels((message) => {
			const view = new DataView(message);
			const [x = 0, y = 0, wide = 0, high = 0] = [2, 4, 6, 8].map((at) => view.getUint16(at));
			const pixels = new Uint8ClampedArray(message, PIXELS_HEAD_BYTES);
			if (wide > 0 && high > 0) {
				context?.putImageData(new ImageData(pixels, wide, high), x, y);
			}
		});
	}, []);
	const shown = picture.value;
	useEffect(() => {
		const timer = shown === undefined ? undefined : setTimeout(() => showPicture(undefined), PICTURE_TIME);
		return () => clearTimeout(timer);
	}, [shown]);
	const content = (
		<>
			<canvas ref={canvas} width={width} height={height} />
			{shown !== undefined && <img src={shown} alt="What the device was told to show" />}
		</>
	);
	return isTouched ? (
		<button type="button" class="screen" aria-label="Screen" {...holdBy(holdButton(TOUCH))}>
			{content}
		</button>
	) : (
		<div class="screen">{content}</div>
	);
}
