import type { Battery, Network, Thermometer } from "../hardware/hardware.js";
import { describeParts } from "../hardware/kinds/describe-parts.js";
import { STATUS_KINDS } from "../hardware/kinds/index.js";
import { boolean, defineTool, integer, number, object, optional, READS, string } from "./define-tool.js";

export default defineTool({
	name: "self.get_device_status",
	title: "Device status",
	description:
		"Read the device's current state: volume of the audio speaker, brightness and theme of the screen, battery, network, chip temperature, " +
		`${STATUS_KINDS.map(({ plural, words = plural }) => words).join(", ")}.`,
	annotations: READS,
	needs: [],
	output: {
		audio_speaker: optional(object({ volume: integer() })),
		screen: optional(object({ brightness: integer(), theme: string() })),
		battery: optional(object({ level: number(), charging: boolean() })),
		network: optional(object({ type: string(), ssid: optional(string()), signal: optional(string()) })),
		chip: optional(object({ temperature: number() })),
		// Each kind of part has its own values, so any members are allowed.
		...(Object.fromEntries(STATUS_KINDS.map(({ plural }) => [plural, optional(object({}))])) as Record<never, never>),
	},
	run: (_args, hardware) => {
		const { speaker, screen, battery, network, thermometer } = hardware;
		// JSON omits undefined members.
		const status = {
			audio_speaker: speaker && { volume: speaker.volume },
			screen: screen && { brightness: screen.brightness, theme: screen.theme },
			battery: readPart(battery, readBattery),
			network: readPart(network, readNetwork),
			chip: readPart(thermometer, readThermometer),
		};
		const kinds = hardware.ruleBook?.statusKinds ?? STATUS_KINDS;
		const { length } = kinds;
		for (let at = 0; at < length; at += 1) {
			const kind = kinds[at] as (typeof kinds)[number];
			const parts = hardware[kind.plural];
			if (parts !== undefined) {
				(status as Record<string, object | undefined>)[kind.plural] = describeParts(kind, parts);
			}
		}
		return status;
	},
});

// Separate functions, because closures would be created at each call.
const readBattery = ({ level, charging }: Battery) => ({ level, charging });
const readNetwork = ({ type, ssid, rssi }: Network) => ({ type, ssid, signal: signalWord(rssi) });
const readThermometer = ({ temperature }: Thermometer) => (temperature === undefined ? undefined : { temperature });

/** The values of a part; undefined without the part, or if it does not answer. */
const readPart = <Part, Values>(part: Part | undefined, read: (part: Part) => Values): Values | undefined => {
	try {
		return part && read(part);
	} catch {
		return undefined;
	}
};

/** A word for a signal strength in dBm. */
const signalWord = (rssi: number | undefined): "strong" | "medium" | "weak" | undefined => {
	if (rssi === undefined) {
		return undefined;
	}
	if (rssi >= -60) {
		return "strong";
	}
	return rssi >= -70 ? "medium" : "weak";
};
