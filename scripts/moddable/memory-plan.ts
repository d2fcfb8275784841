import { readFileSync } from "node:fs";
import { join } from "node:path";
import { messageLimits } from "../../src/app/create-transport.js";
import { type Partition, type Psram, readPartitions, readSdkConfig } from "./idf-settings.js";
import { configureForChip } from "./mcconfig.js";
import { type Sdk, SdkError } from "./sdk.js";
import type { Target } from "./targets.js";

const MEGABYTE = 1024 * 1024;

/** Bytes of a slot on a chip, where XS has 32 bits. */
const SLOT_BYTES = 16;

/** ESP-IDF's default of CONFIG_SPIRAM_MALLOC_ALWAYSINTERNAL: bytes up to which memory is never taken from PSRAM. */
const ALWAYS_INTERNAL = 16_384;

/** The memory of a build, as far as known before it. */
export interface MemoryPlan {
	readonly target: Target;
	/** Of the flash that the image is made for. */
	readonly flashBytes: number;
	readonly psram: Psram;
	/** The initial and only memory of XS. */
	readonly chunkBytes: number;
	readonly slots: number;
	readonly stackSlots: number;
	/** Of the longest message that the device accepts. */
	readonly messageBytes: number;
	readonly partitions: readonly Partition[];
	/** The paths of the fonts, without `.fnt`. */
	readonly fonts: readonly string[];
}

/** `manifest_flat.json`: all manifests merged by mcconfig. */
interface FlatManifest {
	readonly creation: {
		readonly chunk: { readonly initial: number };
		readonly heap: { readonly initial: number };
		readonly stack: number;
	};
	readonly config: { readonly chunkBytes: number | string };
	readonly resources: { readonly "*-mask"?: readonly string[] };
}

/**
 * Computes the memory of a build from the manifests and the target's ESP-IDF settings. Needs no ESP-IDF.
 *
 * @param folder the manifest's
 * @param settings of the firmware: "ssid=…"
 * @throws SdkError when mcconfig fails, or the partitions are larger than the flash
 */
export async function planMemory(
	sdk: Sdk,
	folder: string,
	target: Target,
	settings: readonly string[],
): Promise<MemoryPlan> {
	const made = await configureForChip(sdk, folder, target.name, settings);
	const flat: FlatManifest = JSON.parse(readFileSync(join(made, "manifest_flat.json"), "utf8"));
	const { creation, config, resources } = flat;
	const ofIdf = (name: string): string => readFileSync(join(made, `xsProj-${target.chip}`, name), "utf8");
	const chip = readSdkConfig(ofIdf("sdkconfig.mc"));
	const partitions = readPartitions(ofIdf("partitions.csv"));
	checkPartitions(target, partitions, chip.flashBytes);
	return {
		target,
		...chip,
		chunkBytes: creation.chunk.initial,
		slots: creation.heap.initial,
		stackSlots: creation.stack,
		messageBytes: messageLimits(readBytes(config.chunkBytes)).maxMessageBytes,
		partitions,
		fonts: resources["*-mask"] ?? [],
	};
}

function checkPartitions({ name }: Target, partitions: readonly Partition[], flashBytes: number): void {
	const end = Math.max(0, ...partitions.map((partition) => partition.end));
	if (end > flashBytes) {
		const needed = (end / MEGABYTE).toFixed(1);
		throw new SdkError(
			`--target: ${name} has ${flashBytes / MEGABYTE} MB of flash, and the partitions of the firmware need ${needed} MB`,
		);
	}
}

/** @param chunkBytes the setting, which is text if it comes from the command line */
function readBytes(chunkBytes: number | string): number {
	const bytes = Number(chunkBytes);
	if (!(bytes > 0)) {
		throw new SdkError(`chunkBytes: expected a number of bytes, got ${chunkBytes}`);
	}
	return bytes;
}

/** The plan as text. */
export function describePlan(plan: MemoryPlan): string {
	const { target, chunkBytes, slots, stackSlots, messageBytes, partitions } = plan;
	const heap = (name: string, size: string, bytes: number): string[] => [
		name,
		size,
		kilobytes(bytes),
		placeOf(plan, bytes),
	];
	const rows = [
		heap("chunks", `${chunkBytes} bytes`, chunkBytes),
		heap("slots", `${slots} slots`, slots * SLOT_BYTES),
		heap("stack", `${stackSlots} slots`, stackSlots * SLOT_BYTES),
		["longest message", `${messageBytes} bytes`],
		...partitions.map(({ name, type, bytes }) => [`partition ${name}`, type, kilobytes(bytes)]),
	];
	return [`Memory of ${target.name} (${target.chip}, ${describeChip(plan)}):`, ...alignColumns(rows)].join("\n");
}

/** The first column to the left, the others to the right. */
function alignColumns(rows: readonly (readonly string[])[]): string[] {
	const width = (column: number): number => Math.max(...rows.map((row) => (row[column] ?? "").length));
	const align = (cell: string, column: number): string =>
		column === 0 ? cell.padEnd(width(column)) : cell.padStart(width(column));
	return rows.map((row) => `  ${row.map(align).join("  ")}`);
}

function describeChip({ flashBytes, psram }: MemoryPlan): string {
	const use = { malloc: "PSRAM", reserved: "PSRAM that malloc does not use", none: "no PSRAM" }[psram];
	return `${flashBytes / MEGABYTE} MB flash, ${use}`;
}

function placeOf({ psram }: MemoryPlan, bytes: number): string {
	return psram === "malloc" && bytes > ALWAYS_INTERNAL ? "in PSRAM" : "in internal RAM";
}

function kilobytes(bytes: number): string {
	return `${bytes / 1024} KB`;
}
