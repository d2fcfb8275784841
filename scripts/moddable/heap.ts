import type { Samples } from "./xsbug.js";

/** A machine's memory in bytes: used, garbage included, and allowed by the manifest's `creation`. */
export interface MachineHeap {
	readonly slots: Used;
	readonly chunks: Used;
	readonly stack: Used;
	/** Collections of garbage since the sample before. */
	readonly collections: number;
}

/** Bytes. */
interface Used {
	readonly used: number;
	readonly available: number;
}

/** Finds the heap in what a machine measures; undefined where it does not measure it. */
export function readHeap(samples: Samples): MachineHeap | undefined {
	const slots = used(samples, "Slot");
	const chunks = used(samples, "Chunk");
	const stack = used(samples, "Stack");
	const collections = samples.get("Garbage collections")?.value;
	return slots && chunks && stack && collections !== undefined ? { slots, chunks, stack, collections } : undefined;
}

function used(samples: Samples, what: string): Used | undefined {
	const [now, available] = [samples.get(`${what} used`), samples.get(`${what} available`)];
	return now && available && { used: now.value, available: available.value };
}

/** A heap in a line. */
export function describeHeap({ slots, chunks, stack, collections }: MachineHeap): string {
	const parts = Object.entries({ slots, chunks, stack }).map(
		([name, { used, available }]) => `${name} ${used} of ${available} bytes`,
	);
	return `heap: ${parts.join(", ")}; ${collections} collections`;
}
