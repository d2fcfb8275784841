import { MqttTransport, type MqttTransportOptions } from "./mqtt-transport.js";

/** Backends over MQTT. */
export default (options: MqttTransportOptions): MqttTransport => new MqttTransport(options);
