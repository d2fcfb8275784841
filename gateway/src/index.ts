export * from "./device.js";
export { DeviceHub } from "./device-hub.js";
export type { EmbeddedBrokerOptions } from "./embedded-broker.js";
export * from "./errors.js";
export type { ExternalBrokerOptions } from "./external-broker.js";
export { MqttDevices } from "./mqtt-devices.js";
export { WebSocketDevices, type WebSocketDevicesOptions } from "./websocket-devices.js";
