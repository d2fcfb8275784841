import type { CallToolResult } from "@modelcontextprotocol/client";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { isUserOnly, jsonOf, type Server, type ServerTool, textOf } from "xs-mcp-manager/core";

export interface Caller {
	/** For the record of calls. */
	readonly principal: string;
	readonly signal: AbortSignal;
}

export const CHIME = "self.audio_speaker.chime";
export const PLAY = "self.audio_speaker.play";
const SHOW_TEXT = "self.screen.show_text";
export const ASK_USER = "self.assistant.ask_user";
export const SET_VOLUME = "self.audio_speaker.set_volume";
const STATUS = "self.get_device_status";

/** A tool of a device that clients may call; undefined if it has none of this name. */
export function findTool(device: Server, name: string): ServerTool | undefined {
	return device.tools.find((tool) => tool.name === name && !isUserOnly(tool));
}

/** Calls a tool. Rejects with an Error also if the tool has failed. */
export async function callTool(
	device: Server,
	tool: ServerTool,
	args: object,
	{ principal, signal }: Caller,
): Promise<CallToolResult> {
	const result = (await device.call(tool, args, { principal, signal, onProgress: () => {} })) as CallToolResult;
	if (result.isError) {
		throw new Error(textOf(result.content));
	}
	return result;
}

/** Calls a tool whose result is an object, or its JSON on older firmware: {} if that is not valid. Rejects as {@link callTool} does. */
export async function callForObject(...call: Parameters<typeof callTool>): Promise<Readonly<Record<string, unknown>>> {
	const result = jsonOf(await callTool(...call));
	return isObject(result) ? result : {};
}

/** Cuts a text to the length that a tool takes for one of its arguments. */
export function fitting({ inputSchema }: ServerTool, argument: string, text: string): string {
	const schema = inputSchema.properties?.[argument];
	return text.slice(0, isObject(schema) && typeof schema.maxLength === "number" ? schema.maxLength : undefined);
}

/** Shows a text on the screen of a device. Rejects with an Error if it has none. */
export async function showText(device: Server, text: string, caller: Caller): Promise<void> {
	const screen = findTool(device, SHOW_TEXT);
	if (screen === undefined) {
		throw new Error("no screen for texts");
	}
	await callTool(device, screen, { text: fitting(screen, "text", text) }, caller);
}

/**
 * Sets the volume of a device.
 *
 * @param volume percent; undefined: as it is
 * @returns a function that restores the volume and never rejects
 */
export async function setVolume(
	device: Server,
	volume: number | undefined,
	caller: Caller,
): Promise<() => Promise<void>> {
	const setter = findTool(device, SET_VOLUME);
	if (volume === undefined || setter === undefined) {
		return async () => {};
	}
	const status = findTool(device, STATUS);
	const { audio_speaker: speaker } = status === undefined ? {} : await callForObject(device, status, {}, caller);
	const before = isObject(speaker) ? speaker.volume : undefined;
	await callTool(device, setter, { volume }, caller);
	return async () => {
		if (typeof before === "number") {
			await device.call(setter, { volume: before }, { principal: caller.principal }).catch(() => {});
		}
	};
}

/** Calls that wait for a device; and as many urgent ones. */
const MAX_WAITING = 8;

interface Turns {
	/** Aborts the call in progress. */
	current: AbortController | undefined;
	readonly waiting: { readonly isUrgent: boolean; readonly start: () => void }[];
}

/** Turns of devices: each says or hears one thing at a time. */
export class DeviceTurns {
	readonly #turns = new WeakMap<Server, Turns>();

	/** Whether a device says or hears something at the moment. */
	isBusy(device: Server): boolean {
		return this.#turns.get(device)?.current !== undefined;
	}

	/**
	 * Runs a task in a device's turn. Rejects with an Error if too many wait, or with the reason of its interruption.
	 *
	 * @param act rejects once its signal says so
	 * @param isUrgent interrupts the current turn, and comes before those that wait
	 */
	async take<T>(
		device: Server,
		cancelled: AbortSignal,
		act: (signal: AbortSignal) => Promise<T>,
		isUrgent = false,
	): Promise<T> {
		cancelled.throwIfAborted();
		const turns = this.#turns.get(device) ?? { current: undefined, waiting: [] };
		this.#turns.set(device, turns);
		if (turns.waiting.filter((each) => each.isUrgent === isUrgent).length >= MAX_WAITING) {
			throw new Error(`${MAX_WAITING} calls wait for this device to speak or listen`);
		}
		if (turns.current !== undefined) {
			if (isUrgent) {
				turns.current.abort(new Error("interrupted by an urgent announcement"));
			}
			await waitFor(turns, isUrgent, cancelled);
		}
		const current = new AbortController();
		turns.current = current;
		const signal = AbortSignal.any([cancelled, current.signal]);
		try {
			signal.throwIfAborted();
			return await act(signal);
		} catch (error) {
			throw signal.aborted ? signal.reason : error;
		} finally {
			const next = turns.waiting.shift();
			// The next turn starts before any other can.
			turns.current = next && current;
			next?.start();
		}
	}
}

/** Resolves when those before it have ended, urgent ones first. Rejects, and frees the place, once the signal is aborted. */
function waitFor({ waiting }: Turns, isUrgent: boolean, signal: AbortSignal): Promise<void> {
	return new Promise((start, reject) => {
		const own = { isUrgent, start };
		const at = isUrgent ? waiting.findIndex((each) => !each.isUrgent) : -1;
		waiting.splice(at < 0 ? waiting.length : at, 0, own);
		const leave = (): void => {
			if (waiting.includes(own)) {
				waiting.splice(waiting.indexOf(own), 1);
				reject(signal.reason);
			}
		};
		signal.addEventListener("abort", leave, { once: true });
	});
}
