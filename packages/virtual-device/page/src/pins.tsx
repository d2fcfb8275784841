import { describePin, isInput, type PinState } from "../../src/services/pins.js";
import { pinKey } from "./history.js";
import { Button, Range } from "./inputs.js";
import { act, device } from "./link.js";
import { Arm, Curve, Lamp, Strip } from "./pin-views.js";

/** Highest values that are set here: of an analog pin, and of a pulse, in microseconds, which an echo from 5 m has. */
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

function nameOf({ pin, part }: PinState): string {
	return part === undefined ? `Pin ${pin}` : `${part} (${pin})`;
}

/** Sets what is connected to a pin. */
function set(pin: number, level: number | string): void {
	act("set", { [`pin ${pin}`]: level });
}

function Input(each: PinState) {
	switch (each.kind) {
		case "analog":
			return <Measured {...each} maximum={MAX_ANALOG} unit="" />;
		case "pulse":
			return <Measured {...each} maximum={MAX_PULSE} unit="µs" />;
		case "counter":
			return <Counter {...each} />;
		case "receive":
			return <Line {...each} />;
		default:
			return <Contact {...each} />;
	}
}

function Measured(each: PinState & { readonly maximum: number; readonly unit: string }) {
	const { pin, value, maximum, unit } = each;
	const name = nameOf(each);
	return (
		<div>
			<Range
				label={name}
				unit={unit}
				minimum={0}
				maximum={maximum}
				value={Number(value)}
				onChange={(level) => set(pin, level)}
			/>
			<Curve of={pinKey(pin)} name={name} minimum={0} maximum={maximum} />
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

/** A contact or a button. */
function Contact(each: PinState) {
	return (
		<label>
			<input
				type="checkbox"
				role="switch"
				checked={each.value !== 0}
				aria-checked={each.value !== 0}
				onChange={({ currentTarget }) => set(each.pin, currentTarget.checked ? 1 : 0)}
			/>
			{nameOf(each)}: {describePin(each)}
		</label>
	);
}

function Output(each: PinState) {
	return (
		<p class="hstack">
			<View {...each} />
			{nameOf(each)}: {describePin(each)}
		</p>
	);
}

function View({ kind, value }: PinState) {
	if (typeof value === "object") {
		return <Strip {...value} />;
	}
	switch (kind) {
		case "pixels":
		case "transmit":
			return null;
		case "servo":
			return <Arm pulse={Number(value)} />;
		case "pwm":
			return <Lamp light={Number(value) / 100} />;
		default:
			return <Lamp light={Number(value)} />;
	}
}
