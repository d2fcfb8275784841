import { setTimeout } from "node:timers/promises";
import type { Tool } from "@modelcontextprotocol/server";
import { isNewer, isVersion } from "xs-mcp-firmware/core/text/version";
import { EVERY_DEVICE, type Server, type ServerRegistry, textResult } from "xs-mcp-manager/core";
import * as z from "zod";
import type { OwnTool } from "../catalog/catalog.js";
import { chooseMembers, DEVICES } from "../catalog/groups.js";
import { type Access, reaches } from "../config/access.js";
import type { RunningGateway } from "../gateway.js";
import { ownTool } from "../mcp/own-tool.js";
import {
	type Caller,
	CHIME,
	callTool,
	type DeviceTurns,
	findTool,
	PLAY,
	SET_VOLUME,
	setVolume,
	showText,
} from "./device-tools.js";
import type { Speech, SpokenText } from "./speech.js";
import { streamSpeech } from "./spoken-stream.js";

interface Announcement {
	readonly text: string;
	/** Whether a chime comes first, on devices that have one. */
	readonly chime?: boolean;
	/** Whether it ends what the devices say at the moment, and is said in quiet hours. */
	readonly isUrgent?: boolean;
	/** Percent; afterwards the volume is as before. */
	readonly volume?: number | undefined;
	/** Whether the screen keeps its content while the text is said. */
	readonly isOnlySaid?: boolean;
	/** Whether it is repeated until a button of the device is pressed. */
	readonly untilPressed?: boolean;
}

/** Outcome of an announcement on a device. */
export interface Outcome {
	readonly device: string;
	/** `played`: the sound has ended. `sent`: the device has it, and does not say when it ends. `shown`: the text is on the screen. */
	readonly outcome: "played" | "sent" | "shown" | "failed";
	/** Why it was not played. */
	readonly reason?: string;
	/** Whether a button was pressed, if it was repeated until then. */
	readonly pressed?: boolean;
}

interface Spoken extends Announcement {
	readonly spoken: SpokenText;
}

/** Says it. Resolves when the sound has ended: whether the device has confirmed that. Rejects with an Error if the signal ends it. */
type Say = (signal: AbortSignal) => Promise<boolean>;

/** Says texts on devices, one after the other on each. */
export type Announcements = ReturnType<typeof makeAnnouncements>;

/** Makes the announcements of a gateway. */
export function makeAnnouncements(gateway: RunningGateway, speech: Speech, turns: DeviceTurns) {
	const withSound = async <T>(what: Announcement, caller: Caller, say: (what: Spoken) => Promise<T>): Promise<T> => {
		const spoken = speech.text(what.text, caller, what.isUrgent);
		try {
			return await say({ ...what, spoken });
		} finally {
			spoken.withdraw();
		}
	};
	return {
		/** Says a text on several devices at the same time. Never rejects: what has failed is in the outcomes. */
		async say(what: Announcement, devices: readonly Server[], caller: Caller): Promise<readonly Outcome[]> {
			const sayOn = (device: Server, spoken: Spoken): Promise<Outcome> => {
				const act = (signal: AbortSignal) => announce(gateway, device, spoken, { ...caller, signal });
				return turns
					.take(device, caller.signal, act, what.isUrgent)
					.catch((error: Error): Outcome => ({ device: device.alias, outcome: "failed", reason: error.message }));
			};
			return await withSound(what, caller, (spoken) => Promise.all(devices.map((device) => sayOn(device, spoken))));
		},
		/** Says a text on a device whose turn it is already. Rejects with an Error. */
		async sayNow(what: Announcement, device: Server, caller: Caller): Promise<Outcome> {
			return await withSound(what, caller, (spoken) => announce(gateway, device, spoken, caller));
		},
	};
}

async function announce(gateway: RunningGateway, device: Server, what: Spoken, caller: Caller): Promise<Outcome> {
	if (!device.online) {
		throw new Error("offline");
	}
	const prepare = wayTo(gateway, device, what, caller);
	const isQuiet = !what.isUrgent && areQuiet(gateway.settings.quietHours);
	if (typeof prepare === "string" || isQuiet) {
		const reason = typeof prepare === "string" ? prepare : "quiet hours";
		await showText(device, what.text, caller).catch((error: Error) => {
			throw new Error(`${reason}, and ${error.message}`);
		});
		return { device: device.alias, outcome: "shown", reason };
	}
	const say = await prepare();
	const chime = what.chime ? findTool(device, CHIME) : undefined;
	const restore = await setVolume(device, what.volume, caller);
	try {
		let isConfirmed = true;
		const play = async (signal: AbortSignal): Promise<void> => {
			if (chime !== undefined) {
				await callTool(device, chime, {}, { ...caller, signal });
			}
			isConfirmed = await say(signal);
		};
		const more = what.untilPressed ? await repeatUntilPressed(device, play, caller.signal) : await play(caller.signal);
		return { device: device.alias, outcome: isConfirmed ? "played" : "sent", ...more };
	} finally {
		// Not by the signal: an announcement that was cancelled leaves the volume as it was, too.
		await restore();
	}
}

/** How the device gets the sound: as a file that it plays, which it confirms, or as packets. Else, why it cannot. */
function wayTo(
	gateway: RunningGateway,
	device: Server,
	{ text, spoken, isOnlySaid }: Spoken,
	caller: Caller,
): (() => Promise<Say>) | string {
	const { connection } = device;
	const player = findTool(device, PLAY);
	// Another gateway's device cannot load files from this one.
	const url =
		connection?.identity.gateway === undefined ? connection && gateway.urlFor(connection.identity) : undefined;
	if (player !== undefined && url !== undefined) {
		return async () => {
			const args = { url: url + (await spoken.path()) };
			return async (signal) => {
				await callTool(device, player, args, { ...caller, signal });
				return true;
			};
		};
	}
	if (connection !== undefined && url !== undefined && playsNotices(device)) {
		return async () => {
			const { path, duration } = await spoken.opusFile();
			const subtitles = isOnlySaid ? [] : [{ start_ms: 0, text }];
			return async (signal) => {
				connection.send({ type: "notify", audio_url: url + path, subtitles });
				// It loads the file meanwhile, and does not say when it ends.
				await setTimeout(duration + NOTICE_TIME, undefined, { signal });
				return false;
			};
		};
	}
	const channel = connection?.audio;
	if (connection === undefined || channel === undefined) {
		return player === undefined && !playsNotices(device) ? "no speaker" : "it cannot get files from this gateway";
	}
	if (!channel.isOpen) {
		return "it has not opened its audio channel over UDP";
	}
	return async () => {
		const packets = await spoken.packets();
		return (signal) => streamSpeech(connection, channel, isOnlySaid ? undefined : text, packets, signal);
	};
}

/** The first version of the C++ firmware that plays the file of a `notify`. */
const NOTICE_VERSION = "2.5.0";

/** Milliseconds that it takes to sound its chime and to load a file. */
const NOTICE_TIME = 3_000;

/**
 * Whether a device plays the file of a `notify`: the C++ firmware, which over MQTT says no hello while it is idle, and so has no
 * channel for audio.
 */
function playsNotices(device: Server): boolean {
	const { identity, audio, info } = device.connection ?? {};
	const version = info?.version ?? "";
	const isNew = isVersion(version) && !isNewer(NOTICE_VERSION, version);
	return identity?.transport === "mqtt" && audio === undefined && isNew && findTool(device, SET_VOLUME) !== undefined;
}

/**
 * Whether devices do not speak at the moment, in the time zone of the process.
 *
 * @param hours of each day, without the end: "22:00-07:00"; undefined: none
 */
function areQuiet(hours: string | undefined, now = new Date()): boolean {
	const [from = "", to = ""] = (hours ?? "00:00-00:00").split("-");
	const time = [now.getHours(), now.getMinutes()].map((each) => `${each}`.padStart(2, "0")).join(":");
	return from <= to ? from <= time && time < to : time >= from || time < to;
}

/** How often a sound is repeated, and milliseconds between two. */
const MAX_REPEATS = 20;
const PAUSE = 2_000;

/**
 * Plays again and again until a button of the device is pressed, which also ends the sound.
 *
 * @param play rejects if the signal ends it
 * @returns whether a button was pressed
 */
async function repeatUntilPressed(
	{ connection }: Server,
	play: (signal: AbortSignal) => Promise<void>,
	cancelled: AbortSignal,
): Promise<{ readonly pressed: boolean }> {
	const pressed = new AbortController();
	const signal = AbortSignal.any([cancelled, pressed.signal]);
	const onNotification = (method: string): void => {
		if (method === "notifications/button_pressed") {
			pressed.abort();
		}
	};
	connection?.events.on("notification", onNotification);
	try {
		for (let count = 0; count < MAX_REPEATS && !signal.aborted; count += 1) {
			await play(signal);
			await setTimeout(PAUSE, undefined, { signal });
		}
	} catch (error) {
		if (!pressed.signal.aborted) {
			throw error;
		}
	} finally {
		connection?.events.off("notification", onNotification);
	}
	return { pressed: pressed.signal.aborted };
}

/** Caller in the log and the console. */
const PRINCIPAL = "timer";

/** Makes devices say the text of a timer that is due, after a chime. Quiet hours do not apply: somebody has asked for it. */
export function speakTimers({ servers, limitedLog }: RunningGateway, announcements: Announcements): void {
	servers.on("notification", (server, method, { text }) => {
		if (method !== "notifications/timer_due" || typeof text !== "string" || text.trim() === "") {
			return;
		}
		const { signal } = new AbortController();
		const what = { text: text.trim(), chime: true, isUrgent: true };
		void announcements.say(what, [server], { principal: PRINCIPAL, signal }).then(([said]) => {
			if (said?.outcome === "failed") {
				limitedLog.warn("speech", { device: server.id }, `timer not said: ${said.reason}`);
			}
		});
	});
}

/** Characters of a text: about two minutes. */
const MAX_TEXT = 1_000;

const INPUT = z.strictObject({
	text: z.string().trim().min(1).max(MAX_TEXT).describe("Plain text, in the language of the people who hear it"),
	[DEVICES]: z.array(z.string()).min(1).describe(`Devices, tags of several, or "${EVERY_DEVICE}"`),
	chime: z.boolean().default(false).describe("A chime comes first"),
	urgent: z.boolean().default(false).describe("Interrupts other announcements, also in quiet hours"),
	volume: z.int().min(0).max(100).optional().describe("Percent, for this announcement only"),
	until_pressed: z.boolean().default(false).describe("Repeats it until a button of the device is pressed"),
});

const LISTED: Omit<Tool, "inputSchema"> = {
	name: "say",
	title: "Say",
	description:
		"Say a text aloud on devices, for the people nearby. Returns when the sound has ended, with what became of it on each device: " +
		"played, sent (it does not say when it has played it), shown (as text on the screen) or failed.",
	annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
};

/** The tool `say`, if a client with this access may change anything. */
export function sayToolFor(access: Access, announcements: Announcements, servers: ServerRegistry): readonly OwnTool[] {
	if (access.readOnly || access.isForeignPage) {
		return [];
	}
	const say = ownTool(LISTED, INPUT, async (args, { principal, signal }) => {
		const reachable = servers.all.filter((server) => !server.configured && reaches(access, server.id));
		const members = reachable.map((server) => ({ server }));
		const devices = chooseMembers({ listed: LISTED, members }, args[DEVICES]).map(({ server }) => server);
		const { text, chime, urgent: isUrgent, volume, until_pressed: untilPressed } = args;
		const what = { text, chime, isUrgent, volume, untilPressed };
		const outcomes = await announcements.say(what, devices, { principal, signal });
		const lines = outcomes.map(({ device, outcome, reason, pressed }) => {
			const more = reason ?? (pressed === undefined ? undefined : `a button was ${pressed ? "" : "not "}pressed`);
			const { title } = servers.find(device) ?? {};
			return `${device}${title === undefined ? "" : ` "${title}"`}: ${outcome}${more === undefined ? "" : ` (${more})`}`;
		});
		// It is only a failed call if every device has failed.
		const isError = outcomes.every(({ outcome }) => outcome === "failed");
		return textResult(lines.join("\n"), { structuredContent: { results: outcomes }, ...(isError && { isError }) });
	});
	return [say];
}
