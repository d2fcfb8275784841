import type { Feature } from "../app/listener.js";
import type { Transport, TransportOptions } from "../protocols/transport.js";
import { MqttTransport } from "./mqtt-channel.js";

const openMqtt = (options: TransportOptions): Transport => new MqttTransport(options);

/** Backends over MQTT. */
const mqtt: Feature = {
	name: "mqtt",
	rescue: true,
	start({ backend }) {
		backend.transports.set("mqtt", openMqtt);
		backend.transports.set("mqtts", openMqtt);
	},
};

export default mqtt;
