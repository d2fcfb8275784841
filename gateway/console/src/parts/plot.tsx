import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Series } from "../store/device.js";
import { theme } from "../store/preferences.js";

/** Pixels. */
const HEIGHT = 84;

/** A number over time, drawn by uPlot. */
export function Plot({ series: { times, values }, label }: { readonly series: Series; readonly label: string }) {
	const place = useRef<HTMLDivElement>(null);
	const plot = useRef<uPlot | undefined>(undefined);
	const { value: chosen } = theme;
	useEffect(() => {
		const element = place.current as HTMLDivElement;
		const style = getComputedStyle(element);
		// Colours are read from the style sheet, where the theme decides.
		const created = new uPlot(
			optionsFor(element.clientWidth, style.color, style.borderTopColor, style.borderBottomColor),
			[[], []],
			element,
		);
		plot.current = created;
		const observer = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height: HEIGHT }));
		observer.observe(element);
		return () => {
			observer.disconnect();
			created.destroy();
		};
	}, [chosen]);
	useEffect(() => plot.current?.setData([[...times], [...values]]), [times, values, chosen]);
	return <div ref={place} class="plot" role="img" aria-label={label} />;
}

function optionsFor(width: number, line: string, words: string, grid: string): uPlot.Options {
	const axis = { stroke: words, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: "10px system-ui" };
	return {
		width,
		height: HEIGHT,
		legend: { show: false },
		cursor: { show: false },
		padding: [6, 6, 0, 0],
		scales: { y: { range: aroundValues } },
		series: [
			{},
			{ stroke: line, width: 1.5, fill: `color-mix(in srgb, ${line} 14%, transparent)`, points: { show: false } },
		],
		axes: [
			{ ...axis, size: 18 },
			{ ...axis, size: 38, space: 24 },
		],
	};
}

/** A value that never changes is a line in the middle. */
function aroundValues(_plot: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
	if (min === null || max === null) {
		return [0, 1];
	}
	return min === max ? [min - 1, max + 1] : uPlot.rangeNum(min, max, 0.1, false);
}
