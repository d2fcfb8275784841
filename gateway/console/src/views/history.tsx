import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../parts/button.js";
import { Plot } from "../parts/plot.js";
import { visible } from "../parts/visible.js";
import type { DeviceLink } from "../store/device-link.js";
import { type DevicePast, type PastSeries, readPast, seriesOf } from "../store/history.js";
import { duration, t } from "../texts/index.js";
import { controlName, inputName, readingName } from "../texts/words.js";
import { States } from "./device-head.js";

const HOUR = 3_600_000;

/** The spans that can be chosen, ms. */
const SPANS = [HOUR, 24 * HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR] as const;

/** Readings, controls and states over hours or days, as the gateway has kept them. */
export function PastView({ link }: { readonly link: DeviceLink }) {
	const isOpen = useSignal(false);
	return (
		<details class="card" onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
			<summary>{t("history")}</summary>
			{isOpen.value && <Past link={link} />}
		</details>
	);
}

function Past({ link }: { readonly link: DeviceLink }) {
	const span = useSignal<number>(SPANS[1]);
	const past = useSignal<DevicePast | undefined>(undefined);
	const problem = useSignal("");
	const { value: chosen } = span;
	useEffect(() => {
		let isOver = false;
		const read = async (): Promise<void> => {
			try {
				const found = await readPast(link.alias, chosen);
				if (!isOver) {
					past.value = found;
					problem.value = "";
				}
			} catch (error) {
				problem.value = (error as Error).message;
			}
		};
		void read();
		return () => {
			isOver = true;
		};
	}, [link, chosen]);
	return (
		<>
			<span class="segments" role="group" aria-label={t("span")}>
				{SPANS.map((each) => (
					<Button key={each} aria-pressed={chosen === each} onClick={() => (span.value = each)} text={duration(each)} />
				))}
			</span>
			{problem.value !== "" && <p class="problem">{visible(problem.value)}</p>}
			{past.value && <Plots link={link} past={past.value} />}
		</>
	);
}

function Plots({ link, past }: { readonly link: DeviceLink; readonly past: DevicePast }) {
	const { from, to, states } = past;
	const { controls, found } = seriesOf(past, link.tools.value ?? [], link.status.value);
	const nameOf = (each: PastSeries): string => {
		if ("reading" in each) {
			return readingName(each.reading);
		}
		const name = controlName(each.control, controls);
		return each.input === each.control.inputs[0] ? name : `${name}: ${inputName(each.input)}`;
	};
	return (
		<>
			<States changes={states.map(({ state, since }) => ({ state, since: Math.max(since, from) }))} />
			{found.length === 0 && <p class="muted">{t("noHistory")}</p>}
			<div class="plots wide">
				{found.map((each) => (
					<figure key={each.path} class="reading">
						<figcaption>{nameOf(each)}</figcaption>
						<Plot series={each.series} label={nameOf(each)} span={{ from, to }} />
					</figure>
				))}
			</div>
		</>
	);
}
