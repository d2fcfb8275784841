import type { QemuImage } from "./qemu/qemu.js";

/** A slot of XS on a machine of 32 bits, in bytes. */
const SLOT = 16;

/** The memory in `self.get_system_info` of the board, in bytes, except the collections. */
export interface Memory {
	readonly free_heap_size: number;
	readonly slots: number;
	readonly chunks: number;
	readonly stack: number;
	readonly collections: number;
}

/** The measurements, by the rows of the table. Times are milliseconds. */
export interface Measurements {
	readonly image: QemuImage;
	readonly bootTime: number;
	readonly restartTime: number;
	readonly latencies: readonly number[];
	/** As `self.get_system_info` tells it at the end, in bytes. */
	readonly leastFreeHeap: number;
	/** One every few calls: just before and just after a collection, and between. */
	readonly memories: readonly Memory[];
}

/** The value that a share of the values does not exceed. */
function quantile(values: readonly number[], share: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
	if (value === undefined) {
		throw new RangeError("there are no values");
	}
	return value;
}

/** A table in Markdown. */
export function tableOf(measurements: Measurements): string {
	const { image, bootTime, restartTime, latencies, leastFreeHeap, memories } = measurements;
	const bytes = (count: number): string => `${count.toLocaleString("en")} bytes`;
	const range = (name: "slots" | "chunks", unit: number): string => {
		const values = memories.map((memory) => memory[name] / unit);
		return [Math.min(...values), Math.max(...values)].map((value) => value.toLocaleString("en")).join(" to ");
	};
	const rows: readonly (readonly [string, string])[] = [
		["image", bytes(image.size)],
		...[...image.sections].map(([name, size]) => [`section ${name}`, bytes(size)] as const),
		["from power-on to the session", `${(bootTime / 1_000).toFixed(1)} s`],
		["from self.reboot to the next session", `${(restartTime / 1_000).toFixed(1)} s`],
		["system heap: least that ever was free", bytes(leastFreeHeap)],
		["system heap: free at the end", bytes(memories.at(-1)?.free_heap_size ?? 0)],
		["XS slots in use, garbage included", range("slots", SLOT)],
		["XS chunk bytes in use, garbage included", range("chunks", 1)],
		["a call: median", `${quantile(latencies, 0.5).toFixed(1)} ms`],
		["a call: 95 of 100 take at most", `${quantile(latencies, 0.95).toFixed(1)} ms`],
		["calls", latencies.length.toLocaleString("en")],
	];
	return ["| | |", "| --- | --- |", ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join("\n");
}
