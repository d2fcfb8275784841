import { useEffect, useRef } from "preact/hooks";
import { PIXELS_HEAD_BYTES } from "../src/page-messages.js";
import { hexOf } from "../src/services/pins.js";
import { act, device, followPixels, picture, showPicture } from "./link.js";
import { Lamp } from "./pin-views.js";

/** Milliseconds for which the firmware shows a picture: src/screen/picture-preview.ts. */
const PICTURE_TIME = 10_000;

/** The name of the button that a touch screen is. */
const TOUCH = "screen";

/** The device as a person sees it: screen, lights, buttons. */
export function Body() {
	const { board, isRunning, lights } = device.value ?? {};
	if (board === undefined || (board.screen === undefined && board.lights.length + board.buttons.length === 0)) {
		return null;
	}
	const keys = board.buttons.filter((name) => name !== TOUCH || board.screen === undefined);
	return (
		<section class={isRunning ? "body" : "body off"} aria-label="Device">
			{board.screen && <Screen {...board.screen} isTouched={board.buttons.includes(TOUCH)} />}
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

/** Holds a button as long as the pointer or a key holds it. */
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
