import type { Addons } from "../app/addons.js";
import { MqttTransport } from "../protocols/mqtt-transport.js";

const mqtt: Addons["mqtt"] = (options) => new MqttTransport(options);
export default mqtt;
