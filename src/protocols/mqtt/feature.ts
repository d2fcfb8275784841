import type { Feature } from "../../core/listener.js";
import { mqttTransport } from "./mqtt-channel.js";

/** Backends over MQTT. */
const mqtt: Feature = {
	name: "mqtt",
	rescue: true,
	start({ backend }) {
		backend.transports.set("mqtt", mqttTransport);
		backend.transports.set("mqtts", mqttTransport);
	},
};

export default mqtt;
