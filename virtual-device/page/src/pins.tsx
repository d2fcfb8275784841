import { describePin, isInput, type PinState } from "../../src/services/pins.js";
import { act, device } from "./link.js";

/** Highest value of an analog pin. */
const MAX_ANALOG = 4_095;

/** The pins that the firmware has opened: outputs as lamps, inputs as switches and sliders. */
export function Pins() {
	const pins = device.value?.pins ?? [];
	if (pins.length === 0) {
		return null;
	}
	return (
		<section class="card" aria-label="Pins">
			<h2>Pins</h2>
			{pins.map((each) => (isInput(each) ? <Input key={each.pin} {...each} /> : <Output key={each.pin} {...each} />))}
		</section>
	);
}

function nameOf({ pin, part }: PinState): string {
	return part === undefined ? `Pin ${pin}` : `${part} (${pin})`;
}

/** Sets what is connected to a pin. */
function set(pin: number, level: number): void {
	act("set", { [`pin ${pin}`]: level });
}

function Input(each: PinState) {
	const { pin, kind, value } = each;
	const level = Number(value);
	if (kind === "analog") {
		return (
			<label class="range">
				<span>{nameOf(each)}</span>
				<input
					type="range"
					min={0}
					max={MAX_ANALOG}
					value={level}
					onInput={({ currentTarget }) => set(pin, Number(currentTarget.value))}
				/>
				<output>{level}</output>
			</label>
		);
	}
	if (kind === "counter") {
		return (
			<div class="range">
				<span>{nameOf(each)}</span>
				<button type="button" onClick={() => set(pin, level + 1)}>
					Pulse
				</button>
				<output>{level}</output>
			</div>
		);
	}
	return (
		<label class="check">
			<input
				type="checkbox"
				checked={level !== 0}
				onChange={({ currentTarget }) => set(pin, currentTarget.checked ? 1 : 0)}
			/>
			{nameOf(each)}: {describePin(each)}
		</label>
	);
}

function Output(each: PinState) {
	const { kind, value } = each;
	const color = typeof value === "object" ? `#${value.color.toString(16).padStart(6, "0")}` : "#ffb300";
	const isOn = kind !== "servo" && (typeof value === "object" ? value.color !== 0 : value !== 0);
	const opacity = kind === "pwm" && typeof value === "number" ? 0.25 + (0.75 * value) / 100 : 1;
	return (
		<p class="output">
			<svg class="light" viewBox="0 0 20 20" aria-hidden="true">
				<circle cx="10" cy="10" r="8" class="socket" />
				{isOn && <circle cx="10" cy="10" r="8" fill={color} fill-opacity={opacity} />}
			</svg>
			{nameOf(each)}: {describePin(each)}
		</p>
	);
}
