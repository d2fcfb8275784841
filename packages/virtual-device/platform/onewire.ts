/** Stands in for the SDK's `onewire` and the firmware's `dht`, whose sensors have stand-ins. */
export default class OneWire {}
