// What a device of one's own is made of: the package `xs-mcp`.
export { type AnalogOptions, analog } from "./analog.js";
export { type ButtonOptions, button } from "./button.js";
export { type ContactOptions, contact, motion } from "./contact.js";
export { type CounterOptions, counter } from "./counter.js";
export { type DeviceDefinition, device } from "./device.js";
export { type DriverOptions, type SensorDriver, sensor } from "./driver-sensor.js";
export { type NeoPixelOptions, neopixel } from "./neopixel.js";
export type { OpenedPart, Part, PartIo, PartOptions } from "./part.js";
export { type PwmOptions, pwm } from "./pwm.js";
export { type RelayOptions, relay } from "./relay.js";
export { type ServoOptions, servo } from "./servo.js";
