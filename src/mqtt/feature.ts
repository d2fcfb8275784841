import type { Feature } from "../app/application.js";
import type { TransportOptions } from "../app/backend.js";
import { MqttTransport } from "./mqtt-transport.js";

const openMqtt = ({ config, ...options }: TransportOptions): MqttTransport =>
	new MqttTransport({
		...options,
		...config,
		url: config.backend,
		username: config.mqttUsername,
		password: config.mqttPassword,
		keepAlive: config.keepAlive * 1000,
	});

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
