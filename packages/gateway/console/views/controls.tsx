import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Control, type ControlInput, controlsOf, type ToolCall, unitOfInput } from "../store/controls.js";
import { type Device, saidBy } from "../store/device.js";
import { session } from "../store/session.js";
import { duration, t, visible } from "../texts.js";
import { controlName, inputName, inputValue, optionText } from "../words.js";
import { Button, Card, Validated } from "./basics.js";
import { ColorInput, Segments, Slider, type ValueProps } from "./inputs.js";
import { controlOf } from "./schema.js";

/** Milliseconds after the last move of a slider until its value is sent. */
const SETTLE_TIME = 300;

/** The controls of a device: each is set with one tap. */
export function Controls({ link, isDisabled = false }: { readonly link: Device; readonly isDisabled?: boolean }) {
	const controls = controlsOf(link.tools.value ?? [], link.status.value);
	if (controls.length === 0) {
		return null;
	}
	return (
		<Card title={t("controls")} kind="controls">
			<fieldset class="tiles" disabled={isDisabled || session.value?.readOnly === true}>
				{controls.map((control) => (
					<Tile key={control.key} link={link} control={control} name={controlName(control, controls)} />
				))}
			</fieldset>
		</Card>
	);
}

/** Makes the calls of a control. Shows what was set until the device says how it is, and why a call failed. */
function useCalls(link: Device, inputs: readonly ControlInput[]) {
	/** Values that were set, until the device reports its own. */
	const set = useSignal<Readonly<Record<string, unknown>>>({});
	const said = useSignal<{ readonly text: string; readonly isBad: boolean } | undefined>(undefined);
	const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
	const changes = useRef(0);
	const current = useRef(inputs);
	current.current = inputs;
	useEffect(() => () => clearTimeout(timer.current), []);
	const call = async ({ tool, args }: ToolCall, input?: string): Promise<void> => {
		const change = changes.current;
		const { text, isBad } = saidBy(await link.call(tool, args));
		said.value = isBad ? { text, isBad } : input === undefined ? { text: t("done"), isBad } : undefined;
		await link.readStatus();
		const isReported = current.current.some(({ name, value }) => name === input && value !== undefined);
		// A value that was set since then is not yet sent.
		if ((isBad || isReported) && changes.current === change) {
			set.value = {};
		}
	};
	const change = ({ name, schema, callFor }: ControlInput, value: unknown): void => {
		set.value = { ...set.value, [name]: value };
		changes.current += 1;
		clearTimeout(timer.current);
		const wait = SLIDES.has(controlOf(name, schema)) ? SETTLE_TIME : 0;
		timer.current = setTimeout(() => callFor && void call(callFor(value), name), wait);
	};
	return { set, said, call, change };
}

/** One control, and why its last call failed. */
export function Tile({ link, control, name }: { link: Device; control: Control; name: string }) {
	const { inputs, press, secondsLeft, error } = control;
	const { set, said, call, change } = useCalls(link, inputs);
	const [first, ...others] = inputs.map((input) => ({ input, value: set.value[input.name] ?? input.value }));
	return (
		<div class={others.length > 0 ? "tile wide" : "tile"} role="group" aria-label={name}>
			<div class="hstack">
				<b>{name}</b>
				{press && <Button aria-label={`${name}: ${t("press")}`} onClick={() => call(press)} text={t("press")} />}
				{first && <Input {...first} label={name} onChange={(value) => change(first.input, value)} />}
			</div>
			{others.map(({ input, value }) => (
				<div key={input.name} class="hstack">
					<small>{inputName(input)}</small>
					<Input
						input={input}
						value={value}
						label={`${name}: ${inputName(input)}`}
						onChange={(next) => change(input, next)}
					/>
				</div>
			))}
			{secondsLeft !== undefined && <small>{t("offIn", { time: duration(secondsLeft * 1_000) })}</small>}
			{error !== undefined && <small class="bad-text">{visible(error)}</small>}
			<small role="status" class={said.value?.isBad ? "bad-text" : ""}>
				{said.value && visible(said.value.text)}
			</small>
		</div>
	);
}

/** Controls that have many values on their way to one. */
const SLIDES: ReadonlySet<string> = new Set(["slider", "color"]);

function Input({ input, ...given }: { input: ControlInput } & Pick<ValueProps, "label" | "value" | "onChange">) {
	const { value, label, onChange } = given;
	const { name, schema, callFor } = input;
	const props = { ...given, isDisabled: callFor === undefined };
	const control = controlOf(name, schema);
	if (control === "radio" || (control === "switch" && input.value === undefined)) {
		return (
			<Segments
				{...{ label: `${label}`, isDisabled: props.isDisabled, chosen: value, onChoose: onChange }}
				options={control === "switch" ? [true, false] : (schema.enum as (string | number | boolean)[])}
				nameOf={(option) => (typeof option === "boolean" ? t(option ? "on" : "off") : optionText(name, option))}
			/>
		);
	}
	if (control === "color") {
		return <ColorInput {...props} />;
	}
	return control === "switch" ? (
		<label>
			<small>{t(value === true ? "on" : "off")}</small>
			<input
				type="checkbox"
				role="switch"
				aria-label={label}
				disabled={props.isDisabled}
				aria-checked={value === true}
				checked={value === true}
				onChange={() => onChange(value !== true)}
			/>
		</label>
	) : (
		<Validated>
			<Slider {...props} schema={schema} text={inputValue(input, value)} unit={unitOfInput(input)} />
		</Validated>
	);
}
