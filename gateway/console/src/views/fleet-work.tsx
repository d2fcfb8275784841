import type { Tool } from "@modelcontextprotocol/client";
import { useSignal } from "@preact/signals";
import type { ComponentChildren, TargetedEvent } from "preact";
import { useEffect } from "preact/hooks";
import { Button } from "../parts/button.js";
import { confirm } from "../parts/confirm.js";
import { LogList } from "../parts/log-list.js";
import { attempt } from "../parts/notice.js";
import { parametersOf } from "../parts/schema.js";
import { Field, type Values } from "../parts/schema-form.js";
import { visibleLine } from "../parts/visible.js";
import { ALIASES, explained, wordsIn } from "../parts/word-fields.js";
import { titleOf } from "../store/controls.js";
import { plain } from "../store/device.js";
import { withDevice } from "../store/device-link.js";
import { session } from "../store/session.js";
import {
	calling,
	chosen,
	disconnecting,
	forgetting,
	isWorking,
	renaming,
	type Step,
	steps,
	stopWork,
	tagging,
	updating,
	type Work,
	workOn,
} from "../store/work.js";
import { t } from "../texts/index.js";

const KINDS = ["call", "rename", "tag", "update", "disconnect", "forget"] as const;
type Kind = (typeof KINDS)[number];

/** Steps that are shown, failed ones first. */
const MAX_SHOWN = 200;

interface FleetWorkProps {
	/** Devices that the search finds. */
	readonly found: number;
	readonly onChooseAll: () => void;
}

/** Work on the devices that were chosen in the table, and what became of each. */
export function FleetWork({ found, onChooseAll }: FleetWorkProps) {
	const kind = useSignal<Kind>("call");
	const count = chosen.value.size;
	if (count === 0 && steps.value.length === 0) {
		return (
			<Button class="quiet choose-all" onClick={onChooseAll} text={t("selectAll", { count: Math.min(found, 1_000) })} />
		);
	}
	const clear = (): void => {
		chosen.value = new Map();
		steps.value = [];
	};
	const choose = (next: Kind): void => {
		kind.value = next;
		// Results of earlier work would look like those of this one.
		steps.value = [];
	};
	const kinds = session.value?.readOnly ? KINDS.slice(0, 1) : KINDS;
	return (
		<section class="card work" aria-labelledby="work">
			<div class="title-row">
				<h2 id="work">{t("selected", { count })}</h2>
				<Button
					class="quiet"
					onClick={onChooseAll}
					disabled={isWorking.value}
					text={t("selectAll", { count: Math.min(found, 1_000) })}
				/>
				<Button class="quiet" onClick={clear} disabled={isWorking.value} text={t("clearSelection")} />
			</div>
			{count > 0 && (
				<>
					<fieldset class="segments" disabled={isWorking.value}>
						<legend class="hidden">{t("work")}</legend>
						{kinds.map((each) => (
							<label key={each}>
								<input type="radio" name="work" checked={kind.value === each} onChange={() => choose(each)} />
								<span>{t(`work_${each}`)}</span>
							</label>
						))}
					</fieldset>
					<WorkForm kind={kind.value} />
				</>
			)}
			<Steps all={steps.value} />
		</section>
	);
}

function WorkForm({ kind }: { readonly kind: Kind }) {
	switch (kind) {
		case "call":
			return <CallForm />;
		case "rename":
			return (
				<PlainForm kind={kind} onStart={(form) => renaming(String(form.get("pattern")))}>
					<label>
						{t("pattern")}
						<input
							name="pattern"
							required
							maxLength={24}
							placeholder="lamp_{nn}"
							pattern="[a-z0-9_\-\{\}]+"
							{...explained(t("aliasHelp"))}
						/>
					</label>
				</PlainForm>
			);
		case "tag":
			return (
				<PlainForm kind={kind} onStart={(form) => tagging(wordsIn(form, "added"), wordsIn(form, "removed"))}>
					<label>
						{t("addTags")}
						<input name="added" pattern={ALIASES} {...explained(t("aliasHelp"))} />
					</label>
					<label>
						{t("removeTags")}
						<input name="removed" pattern={ALIASES} {...explained(t("aliasHelp"))} />
					</label>
				</PlainForm>
			);
		case "update":
			return <PlainForm kind={kind} onStart={() => updating} question={t("work_update")} />;
		case "disconnect":
			return <PlainForm kind={kind} onStart={() => disconnecting} />;
		case "forget":
			return <PlainForm kind={kind} onStart={() => forgetting} question={t("work_forget")} />;
	}
}

interface PlainFormProps {
	readonly kind: Kind;
	readonly onStart: (form: FormData) => Work;
	/** Confirmation before it begins. Default: none. */
	readonly question?: string;
	readonly children?: ComponentChildren;
}

function PlainForm({ kind, onStart, question, children }: PlainFormProps) {
	const submit = (event: TargetedEvent<HTMLFormElement>): void => {
		event.preventDefault();
		void start(kind, onStart(new FormData(event.currentTarget)), question);
	};
	return (
		<form class="edit" onSubmit={submit}>
			{children}
			<StartButton kind={kind} isDangerous={question !== undefined} />
		</form>
	);
}

/** A tool of the first device that can be called, for all of them. */
function CallForm() {
	const tools = useSignal<readonly Tool[]>([]);
	const name = useSignal("");
	const values = useSignal<Values>({});
	const devices = [...chosen.value.values()];
	const model = devices.find(({ online }) => online)?.id;
	useEffect(() => {
		if (model !== undefined) {
			void attempt(async () => {
				tools.value = (await withDevice(model, (client) => client.listTools())).tools;
			});
		}
	}, [model]);
	const tool = tools.value.find((each) => each.name === name.value);
	const parameters = tool ? parametersOf(tool) : [];
	const submit = (event: TargetedEvent<HTMLFormElement>): void => {
		event.preventDefault();
		if (tool !== undefined) {
			const isHarmless = tool.annotations?.readOnlyHint === true || tool.annotations?.destructiveHint === false;
			const given = Object.fromEntries(Object.entries(values.value).filter(([, value]) => value !== undefined));
			void start("call", calling(tool.name, given), isHarmless ? undefined : visibleLine(titleOf(tool) ?? tool.name));
		}
	};
	return (
		<form onSubmit={submit}>
			<label>
				{t("tool")}
				<select
					value={name.value}
					onChange={({ currentTarget }) => {
						name.value = currentTarget.value;
						values.value = {};
					}}
				>
					<option value="">{model === undefined ? t("noneOnline") : ""}</option>
					{tools.value.map((each) => (
						<option key={each.name} value={each.name}>
							{visibleLine(titleOf(each) ?? each.name)}
						</option>
					))}
				</select>
			</label>
			{parameters.map(({ name: parameter, schema, required }) => (
				<Field
					key={parameter}
					id={`work-${plain(parameter)}`}
					label={parameter}
					schema={schema}
					required={required}
					value={values.value[parameter]}
					onChange={(value) => (values.value = { ...values.value, [parameter]: value })}
				/>
			))}
			<StartButton
				kind="call"
				isDisabled={
					tool === undefined ||
					parameters.some(({ name: parameter, required }) => required && values.value[parameter] === undefined)
				}
			/>
		</form>
	);
}

interface StartButtonProps {
	readonly kind: Kind;
	readonly isDisabled?: boolean;
	readonly isDangerous?: boolean;
}

function StartButton({ kind, isDisabled = false, isDangerous = false }: StartButtonProps) {
	return (
		<div class="actions">
			<Button
				type="submit"
				class={isDangerous ? "danger" : "primary"}
				disabled={isDisabled || isWorking.value}
				text={startText(kind, chosen.value.size)}
			/>
			{isWorking.value && <Button onClick={stopWork} text={t("stop")} />}
		</div>
	);
}

/** Says what happens, and to how many devices. */
function startText(kind: Kind, count: number): string {
	return t("start", { work: t(`work_${kind}`), count });
}

async function start(kind: Kind, work: Work, question: string | undefined): Promise<void> {
	const devices = [...chosen.value.values()];
	const text = t("confirmWork", { work: question ?? "", count: devices.length });
	if (question === undefined || (await confirm(text, startText(kind, devices.length)))) {
		await workOn(devices, work);
	}
}

function Steps({ all }: { readonly all: readonly Step[] }) {
	if (all.length === 0) {
		return null;
	}
	const of = (state: Step["state"]): readonly Step[] => all.filter((each) => each.state === state);
	const [failed, done] = [of("failed"), of("done")];
	const shown = [...failed, ...of("running"), ...done].slice(0, MAX_SHOWN);
	return (
		<>
			<progress max={all.length} value={failed.length + done.length} aria-label={t("work")} />
			<p role="status" class={failed.length > 0 ? "bad-text" : "muted"}>
				{t("workDone", { done: done.length, all: all.length, failed: failed.length })}
			</p>
			<LogList kind="steps">
				{shown.map(({ id, alias, state, text }) => (
					<li key={id}>
						<span class={`dot ${DOTS[state]}`} aria-hidden="true" />
						<span>
							<b>{visibleLine(alias)}</b>{" "}
							<span class={state === "failed" ? "bad-text" : "muted"}>{visibleLine(text)}</span>
						</span>
					</li>
				))}
			</LogList>
		</>
	);
}

const DOTS: Readonly<Record<Step["state"], string>> = { waiting: "off", running: "off", done: "good", failed: "warn" };
