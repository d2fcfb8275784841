import type { Face } from "../../hardware/hardware.js";
import { deepFreeze } from "../../text/deep-freeze.js";

/** The device's status line for people. */
export interface Status {
	readonly word: "offline" | "setup" | "connecting" | "listening" | "updating" | "error";
	readonly color: "accent" | "notice" | "alert";
}

const OFFLINE: Status = deepFreeze({ word: "offline", color: "alert" });
const SETUP: Status = deepFreeze({ word: "setup", color: "notice" });
const CONNECTING: Status = deepFreeze({ word: "connecting", color: "accent" });
const LISTENING: Status = deepFreeze({ word: "listening", color: "accent" });

/** The states that a person is told of. */
const STATES: Readonly<Record<string, Status>> = deepFreeze({
	starting: CONNECTING,
	wifi_configuring: SETUP,
	audio_testing: LISTENING,
	activating: CONNECTING,
	upgrading: { word: "updating", color: "notice" },
	connecting: CONNECTING,
	listening: LISTENING,
	fatal_error: { word: "error", color: "alert" },
});

/** States in which a device that is offline has something more important to tell. */
const ABOVE_OFFLINE = deepFreeze(["wifi_configuring", "upgrading", "fatal_error"]);

/** Changes that a person notices wake the face. */
const FOR_PEOPLE = deepFreeze(["state", "code", "emotion", "alert", "setup", "online", "volume", "details"] as const);

/** Undefined while all is as it should be. */
export const statusOf = ({ state, online, setup }: Pick<Face, "state" | "online" | "setup">): Status | undefined => {
	if (setup !== undefined) {
		return SETUP;
	}
	return online || ABOVE_OFFLINE.includes(state) ? STATES[state] : OFFLINE;
};

/** The word for the status; empty while all is as it should be. */
export const statusText = (face: Face): string => {
	const status = statusOf(face);
	return (status && face.words?.[status.word]) ?? "";
};

/** State and backend in the firmware's words, to find a fault. */
export const detailsOf = ({ state, backend, connected }: Face): string =>
	`${state} ${connected ? "" : "! "}${hostOf(backend)}`;

/** The host in a URL, for there is no room for more. */
export const hostOf = (url: string): string => {
	const start = url.indexOf("://") + 3;
	const end = url.indexOf("/", start);
	return start < 3 ? url : url.slice(start, end < 0 ? undefined : end);
};

/** The header, in a form that can be compared. */
export const headerOf = (face: Face): string => {
	const { battery, signal, online, details } = face;
	const status = statusText(face);
	const icons = `${battery?.level} ${battery?.charging} ${signal} ${online}`;
	return `${status} ${icons} ${details ? detailsOf(face) : ""}`;
};

/** Whether a change wakes the face. */
export const isForPeople = (old: Face, face: Face): boolean => FOR_PEOPLE.some((key) => old[key] !== face[key]);

/** The words, in a form that can be compared. */
export const wordsOf = ({ message, alert }: Face): string => `${alert.status}\n${alert.message}\n${message}`;
