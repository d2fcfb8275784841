import { boolean, integer, number, object, optional, string } from "../../mcp_server/schema.js";
import { defineTool } from "../define-tool.js";
import { READS } from "../hints.js";
import {
	describeLight,
	describeLine,
	describeServo,
	describeSwitch,
	partsStatus,
	sensorsStatus,
} from "../parts-status.js";

export default defineTool({
	name: "self.get_device_status",
	title: "Device status",
	description:
		"Read the device's current state: volume of the audio speaker, brightness and theme of the screen, battery, network, chip temperature, lights, sensors, switches, servos, serial lines.",
	annotations: READS,
	needs: [],
	output: {
		audio_speaker: optional(object({ volume: integer() })),
		screen: optional(object({ brightness: integer(), theme: string() })),
		battery: optional(object({ level: number(), charging: boolean() })),
		network: optional(object({ type: string(), ssid: optional(string()), signal: optional(string()) })),
		chip: optional(object({ temperature: number() })),
		lights: optional(object({})),
		sensors: optional(object({})),
		switches: optional(object({})),
		servos: optional(object({})),
		lines: optional(object({})),
	},
	run: (_args, { speaker, screen, battery, network, thermometer, lights, sensors, switches, servos, lines }) => {
		// JSON omits undefined members.
		return {
			audio_speaker: speaker && { volume: speaker.volume },
			screen: screen && { brightness: screen.brightness, theme: screen.theme },
			battery: readPart(battery, ({ level, charging }) => ({ level, charging })),
			network: readPart(network, ({ type, ssid, rssi }) => ({ type, ssid, signal: signalWord(rssi) })),
			chip: readPart(thermometer, ({ temperature }) => ({ temperature })),
			lights: lights && partsStatus(lights, describeLight),
			sensors: sensors && sensorsStatus(sensors),
			switches: switches && partsStatus(switches, describeSwitch),
			servos: servos && partsStatus(servos, describeServo),
			lines: lines && partsStatus(lines, describeLine),
		};
	},
});

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
