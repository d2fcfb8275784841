import { signal } from "@preact/signals";
import type { FleetRow } from "../../../src/console/messages.js";
import { t } from "../texts/index.js";
import { ask } from "./api.js";
import { objectIn, toolNamed } from "./device.js";
import { withDevice } from "./device-link.js";
import { offerFor, UPGRADE_TOOL } from "./firmware.js";

/** A device that was chosen in the table. */
export type Chosen = Pick<FleetRow, "id" | "alias" | "online" | "tags">;

/** Progress of the work on one device. */
export interface Step {
	readonly id: string;
	readonly alias: string;
	readonly state: "waiting" | "running" | "done" | "failed";
	/** Its answer, or the reason of its failure. */
	readonly text: string;
}

/** Does something with one device. Resolves with what to say of it. */
export type Work = (device: Chosen, index: number) => Promise<string>;

/** Devices that are worked on at the same time: browsers open six connections to one host, and the stream has one. */
const CONCURRENCY = 4;

/** Milliseconds that a call may take without progress. */
const PATIENCE = 300_000;

/** Characters of an answer that are shown. */
const MAX_ANSWER = 200;

/** By id. */
export const chosen = signal<ReadonlyMap<string, Chosen>>(new Map());

/** The work that was begun last, device by device. */
export const steps = signal<readonly Step[]>([]);

export const isWorking = signal(false);

let isStopped = false;

/** Does something with each device, some at the same time. Never rejects: each step says how it ended. */
export async function workOn(devices: readonly Chosen[], work: Work): Promise<void> {
	isStopped = false;
	isWorking.value = true;
	steps.value = devices.map(({ id, alias }) => ({ id, alias, state: "waiting", text: "" }));
	let next = 0;
	const worker = async (): Promise<void> => {
		while (next < devices.length && !isStopped) {
			const index = next;
			next += 1;
			await step(index, () => work(devices[index] as Chosen, index));
		}
	};
	await Promise.all(Array.from({ length: CONCURRENCY }, worker));
	isWorking.value = false;
}

/** Leaves the devices alone that were not begun yet. */
export function stopWork(): void {
	isStopped = true;
}

async function step(index: number, work: () => Promise<string>): Promise<void> {
	change(index, { state: "running" });
	try {
		change(index, { state: "done", text: await work() });
	} catch (error) {
		change(index, { state: "failed", text: (error as Error).message });
	}
}

function change(index: number, changed: Partial<Step>): void {
	steps.value = steps.value.map((each, at) => (at === index ? { ...each, ...changed } : each));
}

/** Calls a tool. */
export function calling(name: string, args: Record<string, unknown>): Work {
	return ({ id }) => withDevice(id, (client) => callOnce(client, name, args));
}

/** Gives names by a pattern, in which `{n}` is the number from 1 on, `{nn}` with two digits. */
export function renaming(pattern: string): Work {
	return async ({ id }, index) => {
		const alias = pattern.replace(/\{(n+)\}/g, (_, digits: string) => String(index + 1).padStart(digits.length, "0"));
		await ask(pathOf(id), { method: "PATCH", json: { alias } });
		return alias;
	};
}

/** Adds tags, and removes others. */
export function tagging(added: readonly string[], removed: readonly string[]): Work {
	return async ({ id, tags }) => {
		const next = [...new Set([...tags, ...added])].filter((tag) => !removed.includes(tag));
		await ask(pathOf(id), { method: "PATCH", json: { tags: next } });
		return next.join(", ");
	};
}

/** Installs the newest firmware that the gateway has. */
export const updating: Work = ({ id }) =>
	withDevice(id, async (client) => {
		const tool = toolNamed((await client.listTools()).tools, UPGRADE_TOOL);
		if (tool === undefined) {
			throw new Error(t("noUpdateTool"));
		}
		const args = await offerFor(id, tool);
		return args === undefined ? t("nothingNewer") : await callOnce(client, tool.name, args);
	});

export const disconnecting: Work = async ({ id }) => {
	await ask(`${pathOf(id)}/session`, { method: "DELETE" });
	return "";
};

/** A device that is online is not forgotten: it would be known again at once. */
export const forgetting: Work = async ({ id }) => {
	await ask(pathOf(id), { method: "DELETE" });
	return "";
};

type Client = Parameters<Parameters<typeof withDevice>[1]>[0];

async function callOnce(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
	const result = await client.callTool(
		{ name, arguments: args },
		{ timeout: PATIENCE, resetTimeoutOnProgress: true, onprogress: () => {} },
	);
	const texts = result.content.flatMap((block) => (block.type === "text" ? [block.text] : [`[${block.type}]`]));
	const object = objectIn(result);
	const said = (texts.join(" ") || (object ? JSON.stringify(object) : "")).slice(0, MAX_ANSWER);
	if (result.isError) {
		throw new Error(said);
	}
	return said;
}

function pathOf(id: string): string {
	return `devices/${encodeURIComponent(id)}`;
}
