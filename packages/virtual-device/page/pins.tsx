import { READING_VIEWS } from "xs-mcp-firmware/hardware/reading-views";
import { SENSOR_KINDS } from "xs-mcp-firmware/hardware/sensor-kinds";
import { readingsOf } from "../platform/io/sensors.js";
import type { OwnPart } from "../src/boards.js";
import { type ChipState, describePin, isInput, type PinState, percentOf } from "../src/services/pins.js";
import { Arm, Curve, holdBy, Lamp, Strip } from "./body.js";
import { Button, Range } from "./inputs.js";
import { act, chipKey, device, pinKey } from "./link.js";

/** Highest values of the sliders: of an analog pin, and of a pulse in microseconds, as of an echo from 5 m. */
const MAX_ANALOG = 4_095;
const MAX_PULSE = 30_000;

/** The pins that the firmware has opened: outputs as lamps, inputs as switches, sliders and curves. */
export function Pins() {
	const pins = device.value?.pins ?? [];
	if (pins.length === 0) {
		return null;
	}
	return (
		<section class="card" aria-label="Pins">
			<h2>Pins</h2>
			<div class="vstack">
				{pins.map((each) => (isInput(each) ? <Input key={each.pin} {...each} /> : <Output key={each.pin} {...each} />))}
			</div>
		</section>
	);
}

const NO_PART: OwnPart = { maker: "", options: {} };

/** The part of a pin, as its project defines it. */
function ownOf({ part = "" }: PinState): OwnPart {
	return device.value?.board.own?.[part] ?? NO_PART;
}

function nameOf(each: PinState): string {
	return ownOf(each).options.title ?? each.part ?? `Pin ${each.pin}`;
}

/** Converts a value between two ranges, and clamps it. */
function scale(value: number, [from, to]: readonly [number, number], [start, end]: readonly [number, number]): number {
	return start + Math.min(1, Math.max(0, (value - from) / (to - from))) * (end - start);
}

/** Sets the level at an input. */
function set(pin: number, level: number | string): void {
	act("set", { [`pin ${pin}`]: level });
}

function Input(each: PinState) {
	switch (each.kind) {
		case "analog":
			return <Analog {...each} />;
		case "pulse":
			return <Measured {...each} range={[0, MAX_PULSE]} unit="µs" />;
		case "counter":
			return <Counter {...each} />;
		case "receive":
			return <Line {...each} />;
		default:
			return ownOf(each).maker === "button" ? <Key {...each} /> : <Contact {...each} />;
	}
}

/** An analog pin, in the unit of its part if it has one. */
function Analog(each: PinState) {
	const { maker, options } = ownOf(each);
	if (maker !== "analog") {
		return <Measured {...each} range={[0, MAX_ANALOG]} unit="" />;
	}
	const { from = [0, MAX_ANALOG], to = [0, 100], kind = "", unit = SENSOR_KINDS[kind]?.unit ?? "%" } = options;
	return <Measured {...each} raw={from} range={to} unit={unit} />;
}

/** A button, which is held while the pointer or a key is down. */
function Key(each: PinState) {
	const { activeHigh = false } = ownOf(each).options;
	const hold = (isDown: boolean): void => set(each.pin, isDown === activeHigh ? 1 : 0);
	return (
		<p class="hstack" title={`Pin ${each.pin}. Hold it for 2 s: a long press`}>
			<button type="button" class="outline key" {...holdBy(hold)}>
				{nameOf(each)}
			</button>
		</p>
	);
}

interface MeasuredProps extends PinState {
	/** Values of the slider. */
	readonly range: readonly [number, number];
	/** The pin's levels for these values. Default: the same. */
	readonly raw?: readonly [number, number];
	readonly unit: string;
}

/** Steps of a slider whose values are not the levels of the pin. */
const STEPS = 100;

function Measured({ range, raw = range, unit, ...each }: MeasuredProps) {
	const { pin, value } = each;
	const limits = { minimum: Math.min(...range), maximum: Math.max(...range) };
	const step = raw === range ? 1 : (limits.maximum - limits.minimum) / STEPS;
	const convert = (level: number): number => Number((Math.round(scale(level, raw, range) / step) * step).toFixed(2));
	const shown = { ...limits, name: nameOf(each), label: nameOf(each), unit, step };
	return (
		<div title={`Pin ${pin}`}>
			<Range
				{...shown}
				value={convert(Number(value))}
				onChange={(next) => set(pin, Math.round(scale(next, range, raw)))}
			/>
			<Curve {...shown} of={pinKey(pin)} convert={convert} />
		</div>
	);
}

function Counter(each: PinState) {
	const count = Number(each.value);
	return (
		<div class="range">
			<span>{nameOf(each)}</span>
			<Button text="Pulse" onClick={() => set(each.pin, count + 1)} />
			<output>{count}</output>
		</div>
	);
}

function Line(each: PinState) {
	const send = (event: SubmitEvent): void => {
		event.preventDefault();
		const input = (event.currentTarget as HTMLFormElement).elements.namedItem("line") as HTMLInputElement;
		set(each.pin, input.value);
	};
	return (
		<form class="hstack say" onSubmit={send}>
			<input name="line" aria-label={nameOf(each)} placeholder={`${nameOf(each)} receives …`} maxLength={1_000} />
			<button type="submit" class="outline">
				Send
			</button>
		</form>
	);
}

function Contact(each: PinState) {
	const { maker, options } = ownOf(each);
	const { kind = maker === "motion" ? "motion" : "opening", active = 1 } = options;
	const [yes, no] = READING_VIEWS[kind]?.words ?? ["yes", "no"];
	const isOn = maker === "" ? each.value !== 0 : each.value === active;
	return (
		<label title={`Pin ${each.pin}`}>
			<input
				type="checkbox"
				role="switch"
				checked={isOn}
				aria-checked={isOn}
				onChange={({ currentTarget }) => set(each.pin, currentTarget.checked === (active === 1) ? 1 : 0)}
			/>
			{nameOf(each)}: {maker === "" ? describePin(each) : isOn ? yes : no}
		</label>
	);
}

function Output(each: PinState) {
	const degrees = degreesOf(each);
	return (
		<p class="hstack" title={`Pin ${each.pin}`}>
			<View {...each} />
			{nameOf(each)}: {degrees === undefined ? describePin(each) : `at ${degrees}°`}
		</p>
	);
}

/** The angle of a servo that has moved. */
function degreesOf(each: PinState): number | undefined {
	const { min = 0, max = 180, pulse = [500, 2_500] } = ownOf(each).options;
	return each.kind === "servo" && Number(each.value) > 0
		? Math.round(scale(Number(each.value), pulse, [min, max]))
		: undefined;
}

function View(each: PinState) {
	const { kind, value } = each;
	if (typeof value === "object") {
		return <Strip {...value} />;
	}
	switch (kind) {
		case "pixels":
		case "transmit":
			return null;
		case "servo":
			return <Arm degrees={degreesOf(each)} />;
		default:
			return <Lamp light={percentOf(each) / 100} />;
	}
}

/** Sensors and other chips on the bus, with a slider for each reading. */
export function Chips() {
	const chips = device.value?.chips ?? [];
	if (chips.length === 0) {
		return null;
	}
	return (
		<section class="card" aria-label="Sensors and chips">
			<h2>Sensors and chips</h2>
			{chips.map((each) => (
				<Chip key={each.address} {...each} />
			))}
		</section>
	);
}

function Chip({ address, type, part, values, isPlugged }: ChipState) {
	const at = typeof address === "number" ? `0x${address.toString(16)}` : address;
	const name = part ?? at;
	const title = device.value?.board.own?.[name]?.options.title ?? name;
	const set = (value: object | boolean): void => act("set", { [name]: value });
	return (
		<section class="vstack" aria-label={title}>
			<label>
				<input
					type="checkbox"
					role="switch"
					checked={isPlugged}
					aria-checked={isPlugged}
					onChange={({ currentTarget }) => set(currentTarget.checked)}
				/>
				{part === undefined ? `${type} (${at})` : `${title}: ${type} (${at})`}
			</label>
			{Object.entries(isPlugged ? readingsOf(type) : {}).map(([reading, { min, max, unit = "", value }]) => {
				const range = { unit, minimum: min, maximum: max, step: stepOf(max - min) };
				return (
					<div key={reading}>
						<Range
							{...range}
							label={reading}
							value={values[reading] ?? value}
							onChange={(next) => set({ [reading]: next })}
						/>
						<Curve of={chipKey(address, reading)} name={reading} {...range} />
					</div>
				);
			})}
		</section>
	);
}

/** The power of ten with at least 500 steps in a range. */
const stepOf = (range: number): number => 10 ** Math.floor(Math.log10(range / 500));
