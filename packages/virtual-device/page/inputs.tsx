export interface RangeProps {
	readonly label: string;
	readonly unit: string;
	readonly minimum: number;
	readonly maximum: number;
	readonly step?: number;
	readonly value: number;
	readonly onChange: (value: number) => void;
}

interface ButtonProps {
	readonly text: string;
	/** Whether a toggle is pressed; undefined for other buttons. */
	readonly isPressed?: boolean;
	readonly onClick: () => void;
}

/** A button with a text. */
export function Button({ text, isPressed, onClick }: ButtonProps) {
	return (
		<button
			type="button"
			class={isPressed ? "" : "outline"}
			data-variant={isPressed ? "danger" : undefined}
			aria-pressed={isPressed}
			onClick={onClick}
		>
			{text}
		</button>
	);
}

/** Maximum decimals of a shown value. */
const MAX_DECIMALS = 2;

/** A slider with its name and value. */
export function Range({ label, unit, minimum, maximum, step = 1, value, onChange }: RangeProps) {
	return (
		<label class="range">
			<span>{label}</span>
			<input
				type="range"
				min={minimum}
				max={maximum}
				step={step}
				value={value}
				onInput={({ currentTarget }) => onChange(Number(currentTarget.value))}
			/>
			<output>
				{Number(value.toFixed(MAX_DECIMALS))} {unit}
			</output>
		</label>
	);
}
