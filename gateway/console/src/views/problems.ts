import type { FleetRow } from "../../../src/http/console/messages.js";
import { firmware } from "../store/fleet.js";
import type { TextKey } from "../texts/index.js";

/** What is wrong with a device; undefined if nothing is. */
export function problemOf({ id, online, state, calls }: FleetRow): TextKey | undefined {
	if (!online) {
		return "problem_offline";
	}
	if (state === "fatal_error") {
		return "problem_fatal";
	}
	if (firmware.value.get(id)?.step === "rolled-back") {
		return "problem_rolledBack";
	}
	return calls?.lastFailed ? "problem_lastCall" : undefined;
}
