import { useSignal } from "@preact/signals";
import type { SelectHTMLAttributes } from "preact";
import type { Schema } from "./schema.js";

interface SegmentsProps<T> {
	readonly label: string;
	readonly options: readonly T[];
	readonly nameOf: (option: T) => string;
	readonly chosen: unknown;
	readonly isDisabled?: boolean;
	readonly onChoose: (option: T) => void;
}

/** One of a few values. */
export function Segments<T extends string | number | boolean>(props: SegmentsProps<T>) {
	const { label, options, nameOf, chosen, isDisabled = false, onChoose } = props;
	return (
		<span class="segments" role="group" aria-label={label}>
			{options.map((option) => (
				<button
					key={String(option)}
					type="button"
					aria-pressed={chosen === option}
					disabled={isDisabled}
					onClick={() => onChoose(option)}
				>
					{nameOf(option)}
				</button>
			))}
		</span>
	);
}

interface SelectProps extends Pick<SelectHTMLAttributes, "id" | "name" | "value"> {
	/** Undefined: another element is the label. */
	readonly label?: string;
	readonly options: readonly (readonly [value: string, text: string])[];
	readonly onChange?: (value: string) => void;
}

/** One of many values. */
export function Select({ label, options, onChange, ...props }: SelectProps) {
	return (
		<select {...props} aria-label={label} onChange={({ currentTarget }) => onChange?.(currentTarget.value)}>
			{options.map(([each, text]) => (
				<option key={each} value={each}>
					{text}
				</option>
			))}
		</select>
	);
}

export interface ValueProps {
	readonly id?: string;
	/** Undefined: another element is the label. */
	readonly label?: string;
	readonly value: unknown;
	readonly text: string;
	readonly isDisabled?: boolean;
	readonly onChange: (value: unknown) => void;
}

/** A number in a range, as a slider and as a field. The parent reports invalid input. */
export function Slider(props: ValueProps & { readonly schema: Schema; readonly unit: string }) {
	const { id, label, schema, value, text, unit, isDisabled, onChange } = props;
	const { minimum, maximum, multipleOf, type } = schema;
	const [min, max] = [Number(minimum), Number(maximum)];
	const step =
		typeof multipleOf === "number" ? multipleOf : type === "integer" || max - min > 20 ? 1 : (max - min) / 100;
	const isKnown = typeof value === "number";
	/** Text that is not yet a value: the device may report another one meanwhile. */
	const typed = useSignal<string | undefined>(undefined);
	const change = (field: HTMLInputElement): void => {
		if (field.reportValidity()) {
			typed.value = undefined;
			if (field.value !== "") {
				onChange(field.valueAsNumber);
			}
		}
	};
	return (
		<span class={isKnown ? "slider" : "slider unset"}>
			<input
				id={id}
				type="range"
				aria-label={label}
				aria-valuetext={text}
				disabled={isDisabled}
				{...{ min, max, step }}
				value={isKnown ? value : Math.round((min + max) / 2)}
				onInput={({ currentTarget }) => onChange(currentTarget.valueAsNumber)}
			/>
			<input
				type="number"
				aria-label={label}
				disabled={isDisabled}
				{...{ min, max }}
				step={step < 1 ? "any" : step}
				placeholder="–"
				value={typed.value ?? (isKnown ? value : "")}
				onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
				onChange={({ currentTarget }) => change(currentTarget)}
			/>
			{unit}
		</span>
	);
}

/** A colour as #rrggbb. */
export function ColorInput({ id, label, value, isDisabled, onChange }: Omit<ValueProps, "text">) {
	return (
		<input
			id={id}
			type="color"
			aria-label={label}
			disabled={isDisabled}
			value={typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value) ? value : "#ffffff"}
			onInput={({ currentTarget }) => onChange(currentTarget.value)}
		/>
	);
}
