/** Stands in for the SDK's `onewire`, whose sensors have stand-ins. */
export default class OneWire {}
