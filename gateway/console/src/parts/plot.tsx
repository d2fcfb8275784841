import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import type { Series } from "../store/device.js";
import { theme } from "../store/preferences.js";

/** Pixels. */
const HEIGHT = 84;

/** A number over time, drawn by uPlot. */
export function Plot({ series: { times, values }, label }: { readonly series: Series; readonly label: string }) {
	const place = useRef<HTMLDivElement>(null);
	const plot = useSignal<uPlot | undefined>(undefined);
	const { value: chosen } = theme;
	useEffect(() => {
		let end = (): void => {};
		let isOver = false;
		const draw = async (): Promise<void> => {
			// Loaded with the first plot: a third of the page's other code.
			const { default: Drawn } = await import("uplot");
			if (!isOver) {
				end = create(Drawn);
			}
		};
		const create = (Drawn: typeof uPlot): (() => void) => {
			const element = place.current as HTMLDivElement;
			// Colours are read from the style sheet, where the theme decides.
			const { color, borderTopColor, borderBottomColor } = getComputedStyle(element);
			const options = optionsFor(Drawn, element.clientWidth, color, borderTopColor, borderBottomColor);
			const created = new Drawn(options, [[], []], element);
			plot.value = created;
			const observer = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height: HEIGHT }));
			observer.observe(element);
			return () => {
				observer.disconnect();
				created.destroy();
			};
		};
		void draw();
		return () => {
			isOver = true;
			end();
		};
	}, [chosen]);
	const { value: drawn } = plot;
	useEffect(() => drawn?.setData([[...times], [...values]]), [times, values, drawn]);
	return <div ref={place} class="plot" role="img" aria-label={label} />;
}

function optionsFor(Drawn: typeof uPlot, width: number, line: string, words: string, grid: string): uPlot.Options {
	const axis = { stroke: words, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: "10px system-ui" };
	return {
		width,
		height: HEIGHT,
		legend: { show: false },
		cursor: { show: false },
		padding: [6, 6, 0, 0],
		scales: { y: { range: (_plot, min, max) => aroundValues(Drawn, min, max) } },
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
function aroundValues(Drawn: typeof uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
	if (min === null || max === null) {
		return [0, 1];
	}
	return min === max ? [min - 1, max + 1] : Drawn.rangeNum(min, max, 0.1, false);
}
