import type { Feature } from "../core/listener.js";
import { mqttTransport } from "../protocols/mqtt-channel.js";

/** Backends over MQTT. */
export default {
	name: "mqtt",
	rescue: true,
	start({ backend }) {
		backend.transports.set("mqtt", mqttTransport);
		backend.transports.set("mqtts", mqttTransport);
	},
} satisfies Feature;
