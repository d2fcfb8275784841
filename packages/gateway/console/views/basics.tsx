import { signal, useSignal } from "@preact/signals";
import type {
	ButtonHTMLAttributes,
	ComponentChildren,
	InputHTMLAttributes,
	JSX,
	RenderableProps,
	TargetedEvent,
} from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { CallEntry } from "../../src/console/messages.js";
import { t, textOf, visibleLine } from "../texts.js";
import { callText, toolTitle } from "../words.js";

interface ButtonProps extends Omit<ButtonHTMLAttributes, "onClick"> {
	readonly text: string | undefined;
	/** Called on a click. A failure is shown as a notice. */
	readonly onClick?: () => unknown;
}

/** A button with a text. It submits no form, unless its type says so. */
export function Button({ text, onClick, ...props }: ButtonProps) {
	return (
		<button
			type="button"
			class={props.type === "submit" ? "" : "outline"}
			onClick={onClick && (() => void attempt(async () => onClick()))}
			{...props}
		>
			{text}
		</button>
	);
}

export interface FormProps {
	readonly kind?: string;
	/** The button that submits it. */
	readonly submit?: ButtonProps;
	/** Called with the values of the fields. A failure is shown in the form. */
	readonly onSubmit: (data: FormData, form: HTMLFormElement) => unknown;
}

/** A form that stays on the page. */
export function Form({ kind, submit: button, onSubmit, children }: RenderableProps<FormProps>) {
	const problem = useSignal("");
	const isBusy = useSignal(false);
	const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
		event.preventDefault();
		const form = event.currentTarget;
		problem.value = "";
		isBusy.value = true;
		try {
			await onSubmit(new FormData(form), form);
		} catch (error) {
			problem.value = visibleLine((error as Error).message);
		}
		isBusy.value = false;
	};
	return (
		<form class={kind} onSubmit={submit}>
			{children}
			{button && <Button type="submit" disabled={isBusy.value} {...button} />}
			{problem.value !== "" && (
				<p class="bad-text" role="alert">
					{problem.value}
				</p>
			)}
		</form>
	);
}

/** A field, and below it why its input is invalid. @param help the required format in words */
export function Validated({ help, children }: RenderableProps<{ readonly help?: string | undefined }>) {
	const problem = useSignal("");
	const onInvalid = (event: Event): void => {
		event.preventDefault();
		const field = event.target as HTMLInputElement;
		problem.value = help && field.validity.patternMismatch ? help : field.validationMessage;
		if (field.form?.querySelector(":is(input, select, textarea):invalid") === field) {
			field.focus();
		}
	};
	return (
		<div class="field" onInvalidCapture={onInvalid} onInput={() => (problem.value = "")}>
			{children}
			{problem.value !== "" && (
				<small class="bad-text" role="alert">
					{problem.value}
				</small>
			)}
		</div>
	);
}

/** A word or number in a small frame. */
export function Badge({ variant = "secondary", children }: RenderableProps<{ variant?: "secondary" | "warning" }>) {
	return (
		<span class="badge" data-variant={variant}>
			{children}
		</span>
	);
}

interface CardProps {
	readonly title: string;
	readonly count?: number;
	/** Buttons and fields at the end of the title's line. */
	readonly aside?: ComponentChildren;
	readonly kind?: string;
}

/** A section with a title. */
export function Card({ title, count, aside, kind = "", children }: RenderableProps<CardProps>) {
	return (
		<section class={`card ${kind}`} aria-label={title}>
			<div class="hstack">
				<h2>
					{title} {count !== undefined && <Badge>{count}</Badge>}
				</h2>
				{aside}
			</div>
			{children}
		</section>
	);
}

/** A value that is loaded at first and whenever the inputs change, and why it could not be loaded. */
export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[]) {
	const loaded = useSignal<T | undefined>(undefined);
	const problem = useSignal("");
	useEffect(() => {
		let isOver = false;
		const finish = (value: T | undefined, error = ""): void => {
			if (!isOver) {
				loaded.value = value;
				problem.value = error;
			}
		};
		load().then(finish, ({ message }: Error) => finish(loaded.value, message));
		return () => {
			isOver = true;
		};
	}, inputs);
	return { value: loaded.value, problem: problem.value };
}

/** A list that scrolls, also by the keyboard. @param empty shown without entries */
export function LogList(props: { readonly kind?: string; readonly empty?: string; readonly children: JSX.Element[] }) {
	const { kind = "", empty = "", children } = props;
	return children.length === 0 ? (
		<p class="text-light">{empty}</p>
	) : (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: else the keyboard could not scroll it.
		<ul class={`unstyled log ${kind}`} tabIndex={0}>
			{children}
		</ul>
	);
}

/** An entry of a {@link LogList}. */
export function LogEntry({ time, children }: RenderableProps<{ readonly time: string }>) {
	return (
		<li>
			<time class="text-light">{time}</time>
			<span>{children}</span>
		</li>
	);
}

type CallTextProps = Pick<CallEntry, "tool" | "title" | "args" | "answer" | "client" | "principal" | "duration"> & {
	readonly outcome: string;
};

/** A call in a log: in words, and as JSON on demand. @param children what precedes the call */
export function CallText(props: RenderableProps<CallTextProps>) {
	const { tool, args = "{}", answer = "", client, principal, duration, outcome, children } = props;
	const [given, answered] = [callText(args), callText(answer)];
	return (
		<details>
			<summary>
				<span>
					{children} {toolTitle({ ...props, name: tool })} <span class="text-light">{given}</span>
					<small>
						{client && `${visibleLine(client)} · `}
						{visibleLine(principal)} · {Math.round(duration)} ms
						{outcome !== "ok" && <span class="bad-text"> · {textOf(`outcome_${outcome}`) ?? outcome}</span>}
					</small>
					{!["", "…", given].includes(answered) && <small>→ {answered}</small>}
				</span>
			</summary>
			<code>
				{visibleLine(tool)} {visibleLine(args)} {answer && `→ ${visibleLine(answer)}`}
			</code>
		</details>
	);
}

/** Milliseconds for which the button says that it has copied. */
const SAID = 1_500;

/** A button that copies a text. */
export function Copy({ text, label = t("copy") }: { readonly text: string; readonly label?: string }) {
	const said = useSignal<"copied" | "notCopied" | undefined>(undefined);
	const copy = async (): Promise<void> => {
		try {
			await navigator.clipboard.writeText(text);
			said.value = "copied";
		} catch {
			// Browsers allow the clipboard only over TLS or on localhost.
			const area = document.createElement("textarea");
			area.value = text;
			document.body.append(area);
			area.select();
			said.value = document.execCommand("copy") ? "copied" : "notCopied";
			area.remove();
		}
		setTimeout(() => (said.value = undefined), SAID);
	};
	return <Button class="ghost small" onClick={copy} text={said.value ? t(said.value) : label} />;
}

/** A text to be copied. @param shown what is shown of it. Default: all */
export function Snippet({ text, shown = text }: { readonly text: string; readonly shown?: string }) {
	return (
		<div class="snippet">
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled with the keyboard */}
			<pre tabIndex={0}>{shown}</pre>
			<Copy text={text} />
		</div>
	);
}

/** Milliseconds for which a notice is shown. */
const SHOWN = 6_000;

const notice = signal<{ readonly text: string; readonly isError: boolean } | undefined>(undefined);

let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a notice for some seconds. */
export function show(text: string, isError = false): void {
	notice.value = { text, isError };
	clearTimeout(timer);
	timer = setTimeout(() => (notice.value = undefined), SHOWN);
}

/** Runs an action, and shows its failure as a notice. */
export async function attempt(action: () => Promise<unknown>): Promise<void> {
	try {
		await action();
	} catch (error) {
		show(`${t("failed")}: ${visibleLine((error as Error).message)}`, true);
	}
}

/** The place of the notice. */
export function Notice() {
	const { value } = notice;
	return (
		<div class="notice-place" role="status">
			{value && <div class={value.isError ? "notice bad-text" : "notice"}>{value.text}</div>}
		</div>
	);
}

/** A modal dialog. */
export function Dialog(props: RenderableProps<{ isOpen: boolean; label: string; onClose: () => void }>) {
	const { isOpen, label, onClose, children } = props;
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => (isOpen ? dialog.current?.showModal() : dialog.current?.close()), [isOpen]);
	return (
		<dialog ref={dialog} aria-label={label} onClose={onClose}>
			{children}
		</dialog>
	);
}

interface Question {
	readonly paragraphs: readonly string[];
	readonly action: string;
	readonly answer: (yes: boolean) => void;
}

const question = signal<Question | undefined>(undefined);

/** Asks before something that cannot be undone, in a paragraph or several. */
export function confirm(text: string | readonly string[], action: string): Promise<boolean> {
	question.value?.answer(false);
	return new Promise((resolve) => {
		question.value = {
			paragraphs: [text].flat(),
			action,
			answer: (yes) => {
				question.value = undefined;
				resolve(yes);
			},
		};
	});
}

/** The place of the questions of {@link confirm}. */
export function ConfirmDialog() {
	const { value } = question;
	return (
		<Dialog isOpen={value !== undefined} label={t("confirm")} onClose={() => value?.answer(false)}>
			<div class="vstack">
				{value?.paragraphs.map((paragraph) => (
					<p key={paragraph}>{paragraph}</p>
				))}
			</div>
			<footer>
				<Button onClick={() => value?.answer(false)} text={t("cancel")} />
				<Button class="" data-variant="danger" onClick={() => value?.answer(true)} text={value?.action} />
			</footer>
		</Dialog>
	);
}

type TextFieldProps = InputHTMLAttributes & {
	readonly label: string;
	readonly name: string;
	/** The required format in words, shown if the value does not match the pattern. */
	readonly help?: string;
};

/** A labelled text field of a form. */
export function TextField({ label, help, ...props }: TextFieldProps) {
	return (
		<Validated help={help}>
			<label>
				{label}
				<input title={help} {...props} />
			</label>
		</Validated>
	);
}

/** Returns the words in a field. @param separator default: spaces or commas */
export function wordsIn(form: FormData, name: string, separator = /[\s,]+/): readonly string[] {
	return String(form.get(name) ?? "")
		.split(separator)
		.map((word) => word.trim())
		.filter((word) => word !== "");
}
