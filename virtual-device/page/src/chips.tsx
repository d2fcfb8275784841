import type { ChipState } from "../../src/services/chips.js";
import { chipKey } from "./history.js";
import { Range } from "./inputs.js";
import { act, device } from "./link.js";
import { Curve } from "./pin-views.js";

/** Quantities of chips, with the ranges of their sliders. */
const QUANTITIES: Readonly<Record<string, { unit: string; minimum: number; maximum: number; step: number }>> = {
	temperature: { unit: "°C", minimum: -40, maximum: 85, step: 0.5 },
	humidity: { unit: "%", minimum: 0, maximum: 100, step: 1 },
	pressure: { unit: "Pa", minimum: 80_000, maximum: 110_000, step: 100 },
};

/** The simulated chips on the bus, and what they measure. */
export function Chips() {
	const chips = device.value?.chips ?? [];
	if (chips.length === 0) {
		return null;
	}
	return (
		<section class="card" aria-label="Chips">
			<h2>Chips on the bus</h2>
			{chips.map((each) => (
				<Chip key={each.address} {...each} />
			))}
		</section>
	);
}

function Chip({ address, type, part, values, isPlugged }: ChipState) {
	const at = `0x${address.toString(16)}`;
	const name = part ?? at;
	const set = (value: object | boolean): void => act("set", { [name]: value });
	return (
		<section class="vstack" aria-label={name}>
			<label>
				<input
					type="checkbox"
					role="switch"
					checked={isPlugged}
					aria-checked={isPlugged}
					onChange={({ currentTarget }) => set(currentTarget.checked)}
				/>
				{part === undefined ? `${type} (${at})` : `${part}: ${type} (${at})`}
			</label>
			{Object.entries(values).map(([quantity, value]) => {
				const range = QUANTITIES[quantity];
				return (
					isPlugged &&
					range !== undefined && (
						<div key={quantity}>
							<Range {...range} label={quantity} value={value} onChange={(next) => set({ [quantity]: next })} />
							<Curve of={chipKey(address, quantity)} name={quantity} {...range} />
						</div>
					)
				);
			})}
		</section>
	);
}
