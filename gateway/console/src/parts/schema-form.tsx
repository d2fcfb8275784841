import { t } from "../texts/index.js";
import { Button } from "./button.js";
import { controlOf, type Schema } from "./schema.js";
import { visible, visibleLine } from "./visible.js";

export type Values = Readonly<Record<string, unknown>>;

export interface FieldProps {
	readonly id: string;
	readonly label: string;
	readonly schema: Schema;
	/** Undefined: not given. */
	readonly value: unknown;
	readonly onChange: (value: unknown) => void;
}

/** One parameter: a control that fits its schema, which can be left out if it is optional. */
export function Field({ required, ...props }: FieldProps & { readonly required: boolean }) {
	const { id, label, schema, value, onChange } = props;
	const help = typeof schema.description === "string" ? schema.description : "";
	const control = controlOf(label, schema);
	const isGroup = ["radio", "switch", "choices"].includes(control);
	return (
		<div class={`field ${value === undefined ? "unset" : ""}`}>
			<div class="field-head">
				{isGroup ? <span id={`${id}-label`}>{visibleLine(label)}</span> : <label for={id}>{visibleLine(label)}</label>}
				{required ? (
					<span class="muted">{t("required")}</span>
				) : (
					value !== undefined && <Button class="quiet" onClick={() => onChange(undefined)} text={t("leaveOut")} />
				)}
			</div>
			<Control {...props} />
			{help !== "" && <small id={`${id}-help`}>{visible(help)}</small>}
		</div>
	);
}

function Control(props: FieldProps) {
	switch (controlOf(props.label, props.schema)) {
		case "radio":
			return <Radios {...props} options={props.schema.enum as (string | number)[]} />;
		case "switch":
			return <Radios {...props} options={[true, false]} />;
		case "select":
			return <Select {...props} />;
		case "slider":
			return <Slider {...props} />;
		case "number":
			return <NumberInput {...props} />;
		case "color":
			return <Color {...props} />;
		case "text":
			return <Text {...props} />;
		case "area":
			return <Area {...props} />;
		case "choices":
			return <Choices {...props} />;
		case "lines":
			return <Lines {...props} />;
		case "json":
			return <Json {...props} />;
	}
}

type Option = string | number | boolean;

function Radios({ id, value, onChange, options }: FieldProps & { readonly options: readonly Option[] }) {
	return (
		<div class="segments" role="radiogroup" aria-labelledby={`${id}-label`}>
			{options.map((option) => (
				<label key={String(option)}>
					<input type="radio" name={id} checked={value === option} onChange={() => onChange(option)} />
					<span>{typeof option === "boolean" ? t(option ? "on" : "off") : visibleLine(String(option))}</span>
				</label>
			))}
		</div>
	);
}

function Select({ id, schema, value, onChange }: FieldProps) {
	const options = schema.enum as (string | number)[];
	return (
		<select
			id={id}
			value={options.indexOf(value as string)}
			onChange={({ currentTarget }) => onChange(options[Number(currentTarget.value)])}
		>
			<option value={-1} />
			{options.map((option, index) => (
				<option key={String(option)} value={index}>
					{visibleLine(String(option))}
				</option>
			))}
		</select>
	);
}

function Slider({ id, schema: { minimum, maximum, multipleOf, type }, value, onChange }: FieldProps) {
	const [min, max] = [minimum as number, maximum as number];
	const fine = type === "integer" ? 1 : (max - min) / 100;
	const limits = { min, max, step: typeof multipleOf === "number" ? multipleOf : fine };
	const shown = typeof value === "number" ? value : Math.round((min + max) / 2);
	return (
		<div class="slider">
			<input
				id={id}
				type="range"
				{...limits}
				value={shown}
				onInput={({ currentTarget }) => onChange(currentTarget.valueAsNumber)}
			/>
			<output for={id}>{value === undefined ? "–" : String(value)}</output>
		</div>
	);
}

function NumberInput({ id, schema: { type, minimum, maximum }, value, onChange }: FieldProps) {
	return (
		<input
			id={id}
			type="number"
			step={type === "integer" ? 1 : "any"}
			{...(typeof minimum === "number" && { min: minimum })}
			{...(typeof maximum === "number" && { max: maximum })}
			value={typeof value === "number" ? value : ""}
			onInput={({ currentTarget: { valueAsNumber } }) =>
				onChange(Number.isNaN(valueAsNumber) ? undefined : valueAsNumber)
			}
		/>
	);
}

function Color({ id, value, onChange }: FieldProps) {
	const shown = typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value) ? value : "#ffffff";
	return (
		<div class="slider">
			<input id={id} type="color" value={shown} onInput={({ currentTarget }) => onChange(currentTarget.value)} />
			<output for={id}>{value === undefined ? "–" : String(value)}</output>
		</div>
	);
}

function Text({ id, schema, value, onChange }: FieldProps) {
	const { maxLength } = schema;
	return (
		<input
			id={id}
			type="text"
			{...(typeof maxLength === "number" && { maxLength })}
			value={typeof value === "string" ? value : ""}
			onInput={({ currentTarget }) => onChange(currentTarget.value)}
		/>
	);
}

function Area({ id, value, onChange }: FieldProps) {
	return (
		<textarea
			id={id}
			rows={2}
			value={typeof value === "string" ? value : ""}
			onInput={({ currentTarget }) => onChange(currentTarget.value)}
		/>
	);
}

/** Several of a few texts. */
function Choices({ id, schema, value, onChange }: FieldProps) {
	const options = (schema.items as Schema).enum as readonly string[];
	const chosen = Array.isArray(value) ? value : [];
	const toggle = (option: string): void => {
		const next = options.filter((each) => chosen.includes(each) !== (each === option));
		onChange(next.length === 0 ? undefined : next);
	};
	return (
		<div class="checks" role="group" aria-labelledby={`${id}-label`}>
			{options.map((option) => (
				<label key={option} class="check">
					<input type="checkbox" checked={chosen.includes(option)} onChange={() => toggle(option)} />
					{visibleLine(String(option))}
				</label>
			))}
		</div>
	);
}

/** Several texts, one in each line. */
function Lines({ id, value, onChange }: FieldProps) {
	const read = (text: string): void => {
		const lines = text.split("\n").map((line) => line.trim());
		const given = lines.filter((line) => line !== "");
		onChange(given.length === 0 ? undefined : given);
	};
	return (
		<textarea
			id={id}
			rows={3}
			placeholder={t("onePerLine")}
			defaultValue={Array.isArray(value) ? value.join("\n") : ""}
			onInput={({ currentTarget }) => read(currentTarget.value)}
		/>
	);
}

/** A value that no other control fits, as JSON. */
function Json({ id, value, onChange }: FieldProps) {
	const read = (input: HTMLTextAreaElement): void => {
		try {
			onChange(input.value.trim() === "" ? undefined : JSON.parse(input.value));
			input.setCustomValidity("");
		} catch {
			input.setCustomValidity(t("notJson"));
		}
	};
	return (
		<textarea
			id={id}
			rows={2}
			class="mono"
			placeholder="JSON"
			defaultValue={value === undefined ? "" : JSON.stringify(value)}
			onInput={({ currentTarget }) => read(currentTarget)}
		/>
	);
}
