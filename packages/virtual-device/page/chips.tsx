import { readingsOf } from "../platform/io/sensors.js";
import type { ChipState } from "../src/services/chips.js";
import { chipKey } from "./history.js";
import { Range } from "./inputs.js";
import { act, device } from "./link.js";
import { Curve } from "./pin-views.js";

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
