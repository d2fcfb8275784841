import type { Hardware } from "../hardware/hardware.js";
import { lightsStatus } from "./light-set.js";
import { sensorsStatus } from "./sensor-read.js";
import { defineTool } from "./support/define-tool.js";

export default defineTool({
	name: "self.get_device_status",
	description:
		"Read the device's current state: volume of the audio speaker, brightness and theme of the screen, battery, network, chip temperature, lights, sensors.\n" +
		"Use it to answer questions about the device, and as the first step before changing anything, such as turning the volume up.",
	annotations: { readOnlyHint: true },
	needs: [],
	run(_args, { speaker, screen, battery, network, thermometer, lights, sensors }) {
		return {
			...(speaker && { audio_speaker: { volume: speaker.volume } }),
			...(screen && { screen: { brightness: screen.brightness, theme: screen.theme } }),
			...(battery && { battery: { level: battery.level, charging: battery.charging } }),
			...(network && { network: networkStatus(network) }),
			...(thermometer && { chip: { temperature: thermometer.temperature } }),
			...(lights && { lights: lightsStatus(lights) }),
			...(sensors && { sensors: sensorsStatus(sensors) }),
		};
	},
});

function networkStatus({ type, ssid, rssi }: NonNullable<Hardware["network"]>): object {
	return { type, ...(ssid !== undefined && { ssid }), ...(rssi !== undefined && { signal: signalWord(rssi) }) };
}

/** A word for a signal strength in dBm. */
function signalWord(rssi: number): "strong" | "medium" | "weak" {
	if (rssi >= -60) {
		return "strong";
	}
	return rssi >= -70 ? "medium" : "weak";
}
