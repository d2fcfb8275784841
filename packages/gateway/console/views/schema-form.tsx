import type { JSX } from "preact";
import { t, visible, visibleLine } from "../texts.js";
import { Button, Validated } from "./basics.js";
import { ColorInput, Segments, Select, Slider } from "./inputs.js";
import { controlOf, isPercent, type Schema } from "./schema.js";

export type Values = Readonly<Record<string, unknown>>;

interface FieldProps {
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
	const isGroup = ["radio", "switch", "choices"].includes(controlOf(label, schema));
	return (
		<Validated>
			<div class="field-head">
				{isGroup ? <span>{visibleLine(label)}</span> : <label for={id}>{visibleLine(label)}</label>}
				{required ? (
					<small>{t("required")}</small>
				) : (
					value !== undefined && <Button class="ghost small" onClick={() => onChange(undefined)} text={t("leaveOut")} />
				)}
			</div>
			<Control {...props} />
			{help !== "" && <small>{visible(help)}</small>}
		</Validated>
	);
}

type Option = string | number | boolean;

function Control({ id, label, schema, value, onChange }: FieldProps): JSX.Element {
	const { type, minimum, maximum, maxLength } = schema;
	const text = typeof value === "string" ? value : "";
	const options = Array.isArray(schema.enum) ? (schema.enum as Option[]) : [true, false];
	const control = controlOf(label, schema);
	switch (control) {
		case "radio":
		case "switch":
			return (
				<Segments<Option>
					label={label}
					options={options}
					nameOf={(option) => (typeof option === "boolean" ? t(option ? "on" : "off") : visibleLine(String(option)))}
					chosen={value}
					onChoose={onChange}
				/>
			);
		case "select":
			return (
				<Select
					id={id}
					options={[["-1", ""], ...options.map((each, index) => [`${index}`, visibleLine(`${each}`)] as const)]}
					value={`${options.indexOf(value as Option)}`}
					onChange={(index) => onChange(options[Number(index)])}
				/>
			);
		case "slider":
			return (
				<Slider
					{...{ id, label, schema, value, onChange }}
					text={value === undefined ? "–" : String(value)}
					unit={isPercent(label, schema) ? "%" : ""}
				/>
			);
		case "number":
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
		case "color":
			return (
				<span class="slider">
					<ColorInput id={id} value={value} onChange={onChange} />
					<output for={id}>{value === undefined ? "–" : String(value)}</output>
				</span>
			);
		case "text":
			return (
				<input
					id={id}
					type="text"
					{...(typeof maxLength === "number" && { maxLength })}
					value={text}
					onInput={({ currentTarget }) => onChange(currentTarget.value)}
				/>
			);
		case "area":
			return <textarea id={id} rows={2} value={text} onInput={({ currentTarget }) => onChange(currentTarget.value)} />;
		case "choices":
			return <Choices options={(schema.items as Schema).enum as string[]} {...{ label, value, onChange }} />;
		case "lines":
			return (
				<ParsedArea
					{...{ id, onChange }}
					placeholder={t("onePerLine")}
					text={Array.isArray(value) ? value.join("\n") : ""}
					parse={(given) => given.trim().split(/\s*\n\s*/)}
				/>
			);
		case "json":
			return (
				<ParsedArea
					{...{ id, onChange }}
					placeholder="JSON"
					text={value === undefined ? "" : JSON.stringify(value)}
					parse={(given) => JSON.parse(given)}
				/>
			);
	}
}

interface ChoicesProps extends Pick<FieldProps, "label" | "value" | "onChange"> {
	readonly options: readonly string[];
}

/** Several of a few texts. */
function Choices({ label, options, value, onChange }: ChoicesProps) {
	const chosen = Array.isArray(value) ? value : [];
	const toggle = (option: string): void => {
		const next = options.filter((each) => chosen.includes(each) !== (each === option));
		onChange(next.length === 0 ? undefined : next);
	};
	return (
		<div class="hstack" role="group" aria-label={label}>
			{options.map((option) => (
				<label key={option}>
					<input type="checkbox" checked={chosen.includes(option)} onChange={() => toggle(option)} />
					{visibleLine(String(option))}
				</label>
			))}
		</div>
	);
}

interface ParsedAreaProps extends Pick<FieldProps, "id" | "onChange"> {
	readonly placeholder: string;
	readonly text: string;
	/** Throws if the text makes no value. */
	readonly parse: (text: string) => unknown;
}

/** A value that is written as text. Empty: none. */
function ParsedArea({ id, placeholder, text, parse, onChange }: ParsedAreaProps) {
	const read = (area: HTMLTextAreaElement): void => {
		try {
			onChange(area.value.trim() === "" ? undefined : parse(area.value));
			area.setCustomValidity("");
		} catch {
			area.setCustomValidity(t("notJson"));
		}
	};
	return (
		<textarea
			id={id}
			rows={3}
			placeholder={placeholder}
			defaultValue={text}
			onInput={({ currentTarget }) => read(currentTarget)}
		/>
	);
}
