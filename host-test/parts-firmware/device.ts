import { analog, device, relay } from "xs-mcp";

/** A relay and a soil sensor on pins of an ESP32-C3: its channel 3 is on pin 3. */
export default device({
	parts: {
		pump: relay({ pin: 5, maxOn: 30 }),
		soil: analog({ pin: 3, kind: "moisture", from: [4000, 1000], to: [0, 100] }),
	},
});
