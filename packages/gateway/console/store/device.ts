import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { batch, computed, signal } from "@preact/signals";
import { tryParseJson } from "xs-mcp-firmware/core/text/json";

export { isObject } from "xs-mcp-firmware/core/text/json";

const MAX_POINTS = 300;

/** The tool that reads what a device's parts are at, by its name without special characters. */
const STATUS_TOOL = /(^|_)get_device_status$/;

/** Names of tools that take pictures. */
export const PICTURE_TOOL = /(take_photo|snapshot)$/;

/** Outcome of a call. */
export interface Outcome {
	readonly result?: CallToolResult;
	readonly error?: string;
	/** Milliseconds. */
	readonly duration: number;
}

/** The text of an outcome, empty without one, and whether the call has failed. */
export function saidBy({ result, error }: Partial<Outcome>): { readonly text: string; readonly isBad: boolean } {
	const [first] = result?.content ?? [];
	const text = error ?? (first?.type === "text" ? first.text : "");
	return { text, isBad: error !== undefined || result?.isError === true };
}

/** A picture that a tool has returned. */
export interface Picture {
	readonly source: string;
	readonly time: number;
	readonly tool: string;
}

/** A number that changes: seconds since 1970, and values. */
export interface Series {
	readonly times: readonly number[];
	readonly values: readonly number[];
}

/** A device whose tools can be called: what it said last, for the views of it. */
export abstract class Device {
	readonly alias: string;
	readonly tools = signal<readonly Tool[] | undefined>(undefined);
	readonly status = signal<object>({});
	readonly series = signal<ReadonlyMap<string, Series>>(new Map());
	readonly picture = signal<Picture | undefined>(undefined);
	readonly statusTool = computed(
		() =>
			toolNamed(this.tools.value, "self_get_device_status") ??
			this.tools.value?.find(({ name }) => STATUS_TOOL.test(plain(name))),
	);

	constructor(alias = "") {
		this.alias = alias;
	}

	/** Makes a call. Rejects if there is no result. */
	protected abstract ask(
		name: string,
		args: Record<string, unknown>,
		onProgress?: (text: string) => void,
	): Promise<CallToolResult>;

	async call(name: string, args: Record<string, unknown>, onProgress?: (text: string) => void): Promise<Outcome> {
		const begin = performance.now();
		const ended = (): number => Math.round(performance.now() - begin);
		try {
			const result = await this.ask(name, args, onProgress);
			this.keep(name, result);
			return { result, duration: ended() };
		} catch (error) {
			return { error: (error as Error).message, duration: ended() };
		}
	}

	/** Reads the status, if the device has a tool for it. */
	async readStatus(): Promise<void> {
		const tool = this.statusTool.value;
		if (tool !== undefined) {
			await this.call(tool.name, {});
		}
	}

	/** Keeps what a result says of the device: its status, or a picture. */
	keep(tool: string, result: CallToolResult): void {
		for (const block of result.content ?? []) {
			if (block.type === "image") {
				this.picture.value = { source: pictureSource(block), time: Date.now(), tool };
			}
		}
		const status = tool === this.statusTool.value?.name && !result.isError ? objectIn(result) : undefined;
		if (status !== undefined) {
			this.take(status);
		}
	}

	/** Takes the status that the device has now, and adds its numbers to the series of their names. */
	take(status: object): void {
		const series = new Map(this.series.value);
		const time = Date.now() / 1_000;
		for (const [name, value] of leavesIn(status)) {
			if (typeof value === "number" && Number.isFinite(value)) {
				const { times, values } = series.get(name) ?? { times: [], values: [] };
				series.set(name, { times: [...times, time].slice(-MAX_POINTS), values: [...values, value].slice(-MAX_POINTS) });
			}
		}
		batch(() => {
			this.status.value = status;
			this.series.value = series;
		});
	}
}

/** A name as portable names have it: "self.light.set" is "self_light_set". */
export function plain(name: string): string {
	return name.replace(/[^A-Za-z0-9_-]/g, "_");
}

/** The tool of this name, written as {@link plain} writes it. */
export function toolNamed(tools: readonly Tool[] | undefined, name: string): Tool | undefined {
	return tools?.find((tool) => plain(tool.name) === name);
}

/** The data URL of a picture; empty for types that are not plain images, such as SVG. */
export function pictureSource({ mimeType, data }: { readonly mimeType: string; readonly data: string }): string {
	const isKnown = /^image\/(jpeg|png|gif|webp|bmp)$/.test(mimeType) && /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(data);
	return isKnown ? `data:${mimeType};base64,${data}` : "";
}

/** The object that a result has, structured or as the JSON of its only text. */
export function objectIn({ structuredContent, content = [] }: Partial<CallToolResult>): object | undefined {
	if (typeof structuredContent === "object" && structuredContent !== null) {
		return structuredContent;
	}
	const [only, ...others] = content;
	if (only?.type !== "text" || others.length > 0) {
		return undefined;
	}
	const value = tryParseJson(only.text);
	return typeof value === "object" && value !== null ? value : undefined;
}

/** Levels of a status, and values in it, that are read. */
const MAX_LEVELS = 6;
const MAX_VALUES = 60;

/** A value without members. */
export type Leaf = number | string | boolean;

/** Every value in a status, by its path: "sensors.temperature.value". */
export function leavesIn(status: object): Map<string, Leaf> {
	const leaves = membersOf(status).filter((entry): entry is [string[], Leaf] => isLeaf(entry[1]));
	return new Map(leaves.slice(0, MAX_VALUES).map(([path, value]) => [path.join("."), value]));
}

export function isLeaf(value: unknown): value is Leaf {
	return typeof value === "number" || typeof value === "string" || typeof value === "boolean";
}

/** Returns the members of an object by their paths; instead of an object, its members, down to {@link MAX_LEVELS}. */
export function membersOf(value: object, path: readonly string[] = []): [path: string[], value: unknown][] {
	return Object.entries(value).flatMap(([key, member]) => {
		const here = [...path, key];
		const isObject = typeof member === "object" && member !== null && Object.keys(member).length > 0;
		return isObject && path.length < MAX_LEVELS - 1 ? membersOf(member, here) : [[here, member]];
	});
}
