// The package `xs-mcp`: the parts of a maker's device.
export * from "../../tools/define-tool.js";
export type { BoardData } from "../board-data.js";
export { type AnalogOptions, analog } from "./analog.js";
export { type ButtonOptions, button } from "./button.js";
export { type ContactOptions, contact, motion } from "./contact.js";
export { type CounterOptions, counter } from "./counter.js";
export { type DeviceDefinition, type DeviceOptions, device } from "./device.js";
export { type DriverOptions, type SensorDriver, sensor } from "./driver-sensor.js";
export type { Handlers, OwnHardware } from "./handlers.js";
export { type NeoPixelOptions, neopixel } from "./neopixel.js";
export type { OpenedPart, Part, PartIo, PartOptions } from "./part.js";
export { type PwmOptions, pwm } from "./pwm.js";
export { type RelayOptions, relay } from "./relay.js";
export { type SerialOptions, serial } from "./serial.js";
export { type ServoOptions, servo } from "./servo.js";
export { type SirenOptions, siren } from "./siren.js";
