import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import type { Series } from "../store/device.js";
import { clock, dateAndTime, language, t, theme } from "../texts.js";
import { decimal, withUnit } from "../words.js";

/** Height of a plot, in pixels. */
const HEIGHT = 84;

/** Shortest time range that is shown by default, in seconds. */
const MINUTE = 60;

interface PlotProps {
	readonly series: Series;
	readonly label: string;
	/** Whether its values are on and off. */
	readonly isBinary?: boolean;
	readonly unit?: string;
	/** Time range to show, in ms since 1970, with values as steps. Default: the range of the values, at least a minute, as a line. */
	readonly span?: { readonly from: number; readonly to: number } | undefined;
}

/** A number over time, drawn by uPlot. The pointer shows the value at a time. */
export function Plot({ series: { times, values }, label, isBinary = false, unit = "", span }: PlotProps) {
	const pointed = useSignal<number | undefined>(undefined);
	const place = useRef<HTMLDivElement>(null);
	const plot = useSignal<uPlot | undefined>(undefined);
	const { value: chosen } = theme;
	useEffect(() => {
		let end = (): void => {};
		let isOver = false;
		const draw = async (): Promise<void> => {
			// Loaded with the first plot: a third of the page's other code.
			const { default: Drawn } = await import("uplot");
			if (isOver) {
				return;
			}
			const element = place.current as HTMLDivElement;
			const created = new Drawn(optionsFor(Drawn, element, { span, isBinary, unit }), [[], []], element);
			created.hooks.setCursor = [({ cursor: { idx } }) => (pointed.value = idx ?? undefined)];
			plot.value = created;
			const observer = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height: HEIGHT }));
			observer.observe(element);
			end = () => {
				observer.disconnect();
				created.destroy();
			};
		};
		void draw();
		return () => {
			isOver = true;
			end();
		};
	}, [chosen, span?.from, span?.to]);
	const { value: drawn } = plot;
	useEffect(() => drawn?.setData([[...times], [...values]]), [times, values, drawn]);
	const { value: at = -1 } = pointed;
	const [time, value] = [times[at], values[at]];
	return (
		<>
			<div ref={place} class="plot" role="img" aria-label={label} />
			{time !== undefined && value !== undefined && (
				<small class="pointed">
					{dateAndTime(time * 1_000)} · {isBinary ? t(value ? "on" : "off") : withUnit(decimal(value), unit)}
				</small>
			)}
		</>
	);
}

/** Returns uPlot's options. Colours are read from the style sheet, where the theme decides. */
function optionsFor(
	Drawn: typeof uPlot,
	element: HTMLElement,
	{ span, isBinary, unit }: Pick<PlotProps, "span"> & { readonly isBinary: boolean; readonly unit: string },
): uPlot.Options {
	const { color: line, borderTopColor: words, borderBottomColor: grid } = getComputedStyle(element);
	const axis = { stroke: words, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: "10px system-ui" };
	const steps = span && Drawn.paths.stepped?.({ align: 1 });
	return {
		width: element.clientWidth,
		height: HEIGHT,
		legend: { show: false },
		cursor: { y: false, drag: { x: false, y: false } },
		padding: [6, 22, 0, 0],
		scales: {
			x: {
				range: span ? [span.from / 1_000, span.to / 1_000] : (_plot, min, max) => [Math.min(min, max - MINUTE), max],
			},
			y: { range: (_plot, min, max) => (isBinary ? [-0.1, 1.1] : aroundValues(Drawn, unit, min, max)) },
		},
		series: [
			{},
			{
				stroke: line,
				width: 1.5,
				fill: `color-mix(in srgb, ${line} 14%, transparent)`,
				points: { show: false },
				...(steps && { paths: steps }),
			},
		],
		axes: [
			{ ...axis, size: 18, space: 70, values: (_plot, times) => timesOf(times, span) },
			{ ...axis, size: 46, space: 24, ...(isBinary && { splits: [0, 1], values: [t("off"), t("on")] }) },
		],
	};
}

/** Formats the labels of the time axis as days or times; without a span, as times to the second. @param times seconds since 1970 */
function timesOf(times: readonly number[], span: PlotProps["span"]): string[] {
	if (span === undefined) {
		return times.map((time) => clock(time * 1_000));
	}
	const form = span.to - span.from > LONG_SPAN ? DAYS : TIMES;
	return times.map((time) => new Date(time * 1_000).toLocaleString(language.value, form));
}

/** Longest span that is labelled with times instead of days, in ms. */
const LONG_SPAN = 2 * 86_400_000;
const DAYS = { month: "short", day: "numeric" } as const;
const TIMES = { hour: "2-digit", minute: "2-digit", hour12: false } as const;

/** Returns the range of the value axis. Constant values are in the middle, percentages on 0 to 100. It is negative only if a value is. */
function aroundValues(Drawn: typeof uPlot, unit: string, min: number | null, max: number | null): uPlot.Range.MinMax {
	if (min === null || max === null) {
		return [0, 1];
	}
	if (min === max && unit === "%") {
		return [0, 100];
	}
	const [least, most] = min === max ? [min - 1, max + 1] : Drawn.rangeNum(min, max, 0.1, false);
	return [min < 0 ? least : Math.max(0, least ?? 0), most];
}
