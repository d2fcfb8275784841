import type { Tool } from "@modelcontextprotocol/client";
import { useSignal } from "@preact/signals";
import type { HistoryPart, LoggedMessage } from "../../src/history/history.js";
import { controlsOf, readingsIn, unitOfInput } from "../store/controls.js";
import { isObject, type Series } from "../store/device.js";
import type { DeviceLink } from "../store/device-link.js";
import { logged } from "../store/fleet.js";
import { ask, pathOf } from "../store/session.js";
import { clock, duration, t, visible, visibleLine } from "../texts.js";
import { controlName, inputName, readingName } from "../words.js";
import { Button, Card, LogEntry, LogList, useLoaded } from "./basics.js";
import { States } from "./device-head.js";
import { Segments } from "./inputs.js";
import { Plot } from "./plot.js";

const HOUR = 3_600_000;

const MAX_LINES = 100;

/** The spans that can be chosen, ms. */
const SPANS = [HOUR, 24 * HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR] as const;

/** The shortest span that is shown, ms. */
const MIN_SPAN = HOUR / 6;

/** A device's measurements in a span of time, in milliseconds since 1970. */
interface DevicePast extends HistoryPart {
	readonly from: number;
	readonly to: number;
}

/** Readings, controls and states over hours or days, as the gateway has kept them. */
export function PastView({ link }: { readonly link: DeviceLink }) {
	const isOpen = useSignal(false);
	const span = useSignal<number>(SPANS[1]);
	const { value: chosen } = span;
	const path = `${pathOf(link.alias)}/history?from=${Date.now() - chosen}`;
	const read = async () => (isOpen.value ? await ask<DevicePast>(path) : undefined);
	const { value: past, problem } = useLoaded(read, [link, chosen, isOpen.value]);
	return (
		<details onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
			<summary>{t("history")}</summary>
			<div class="vstack">
				<Segments
					label={t("span")}
					options={SPANS}
					nameOf={duration}
					chosen={chosen}
					onChoose={(each) => (span.value = each)}
				/>
				{problem !== "" && <p class="bad-text">{visible(problem)}</p>}
				{past && <Plots link={link} past={past} />}
			</div>
		</details>
	);
}

/** The device's own log, as the gateway keeps it. */
export function DeviceLog({ alias }: { readonly alias: string }) {
	const read = (): Promise<{ messages: readonly LoggedMessage[] }> => ask(`${pathOf(alias)}/log`);
	const { value } = useLoaded(read, [alias, logged.value]);
	const { messages: lines } = value ?? { messages: [] };
	return (
		<Card title={t("deviceLog")}>
			<LogList empty={t("noLog")}>
				{lines.slice(0, MAX_LINES).map(({ time, level, text }, index) => (
					<LogEntry key={`${time} ${lines.length - index}`} time={clock(time)}>
						<span class={`text-light level ${level}`}>{level}</span> {visible(text)}
					</LogEntry>
				))}
			</LogList>
		</Card>
	);
}

function Plots({ link, past }: { readonly link: DeviceLink; readonly past: DevicePast }) {
	const { to, states } = past;
	const found = seriesOf(past, link.tools.value ?? [], link.status.value);
	// A device that is new has no empty days.
	const starts = found.map(({ series }) => (series.times[0] ?? 0) * 1_000);
	const from = Math.max(past.from, Math.min(to - MIN_SPAN, ...starts));
	const save = (): void => {
		const saved = document.createElement("a");
		saved.href = URL.createObjectURL(new Blob([csvOf(found)]));
		saved.download = `${link.alias}.csv`;
		saved.click();
		URL.revokeObjectURL(saved.href);
	};
	return (
		<>
			{states.length > 1 && (
				<States changes={states.map(({ state, since }) => ({ state, since: Math.max(since, from) }))} />
			)}
			{found.length === 0 ? (
				<p class="text-light">{t("noHistory")}</p>
			) : (
				<div>
					<Button onClick={save} text={t("exportCsv")} />
				</div>
			)}
			<div class="plots wide">
				{found.map(({ path, name, unit, isBinary, series }) => (
					<figure key={path} class="reading">
						<figcaption class="text-light">
							{name} <span>{unit}</span>
						</figcaption>
						<Plot series={series} label={name} unit={unit} isBinary={isBinary} span={{ from, to }} />
					</figure>
				))}
			</div>
		</>
	);
}

/**
 * The series of controls and readings, in their order.
 *
 * @param status as it is now, with names and units; empty while the device is offline
 */
function seriesOf({ values, to }: DevicePast, tools: readonly Tool[], status: object) {
	const known = Object.keys(status).length > 0 ? status : statusFrom(values);
	const controls = controlsOf(tools, known);
	const names = new Map<string, readonly [name: string, unit: string]>();
	for (const control of controls) {
		const name = controlName(control, controls);
		for (const input of control.inputs) {
			const own = input === control.inputs[0] ? name : `${name}: ${inputName(input)}`;
			names.set(input.path ?? "", [own, unitOfInput(input)]);
		}
	}
	for (const reading of readingsIn(known, new Set(names.keys())).readings) {
		names.set(reading.path, [readingName(reading), visibleLine(reading.unit)]);
	}
	return [...names].flatMap(([path, [name, unit]]) => {
		const points = (values[path] ?? []).filter(([, value]) => typeof value !== "string");
		const last = points.at(-1);
		// A value holds until the next one.
		const all = last === undefined ? [] : [...points, [to, last[1]] as const];
		const series: Series = { times: all.map(([time]) => time / 1_000), values: all.map(([, value]) => Number(value)) };
		const isBinary = all.every(([, value]) => typeof value === "boolean");
		return all.length === 0 ? [] : [{ path, name, unit, isBinary, series }];
	});
}

/**
 * Returns the points of all series as CSV (RFC 4180), one on each line. Excel reads UTF-8 after a byte order mark. Texts of
 * the device never become formulas.
 */
function csvOf(found: ReturnType<typeof seriesOf>): string {
	const rows = found.flatMap(({ path, name, unit, series: { times, values } }) =>
		// The last point was not measured: it continues the plot.
		times.slice(0, -1).map((time, at) => [new Date(time * 1_000).toISOString(), path, name, values[at], unit]),
	);
	const quoted = (field: unknown): string => {
		const text = typeof field === "string" ? field.replace(/^[=+\-@\t\r]/, "'$&") : String(field);
		return `"${text.replaceAll('"', '""')}"`;
	};
	const lines = [["time", "path", "name", "value", "unit"], ...rows].map((row) => `${row.map(quoted).join(",")}\r\n`);
	return `\ufeff${lines.join("")}`;
}

/** A status with the last values, of a device that cannot be asked. */
function statusFrom(values: DevicePast["values"]): object {
	const status: Record<string, unknown> = Object.create(null);
	for (const [path, points] of Object.entries(values)) {
		const keys = path.split(".");
		const last = keys.pop() as string;
		let place: unknown = status;
		for (const key of keys) {
			if (isObject(place)) {
				(place as Record<string, unknown>)[key] ??= Object.create(null);
				place = place[key];
			}
		}
		if (isObject(place)) {
			(place as Record<string, unknown>)[last] = points.at(-1)?.[1];
		}
	}
	return status;
}
