export * from "./device.js";
export { DeviceHub } from "./device-hub.js";
export * from "./errors.js";
export { WebSocketDevices, type WebSocketDevicesOptions } from "./websocket-devices.js";
